// Command serve is the service on a loopback socket. It prints its URL; a GET of
// /connections returns how many it has accepted, and one of /requests how many it has
// responded to. It ends when its standard input does.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/mintlify-community/mintlify-go/bench/service"
)

func main() {
	rows := flag.Int("rows", 100_000, "rows of the export")
	certificate := flag.String("certificate", "", "serve HTTP/2 over TLS, with a certificate that is made now and written to this `file`")
	flag.Parse()
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server, scheme := newServer(*rows), "http"
	serve := server.Serve
	if *certificate != "" {
		if server.TLSConfig, err = selfSigned(*certificate); err != nil {
			log.Fatal(err)
		}
		scheme, serve = "https", func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Printf("%s://%s\n", scheme, listener.Addr())
	log.Fatal(serve(listener))
}

func newServer(rows int) *http.Server {
	var connections, requests atomic.Int64
	svc := service.New(rows)
	mux := http.NewServeMux()
	mux.HandleFunc("/connections", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, connections.Load()) })
	mux.HandleFunc("/requests", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, requests.Load()) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		svc.ServeHTTP(w, r)
		requests.Add(1)
	})
	return &http.Server{Handler: mux, ErrorLog: log.New(io.Discard, "", 0), ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}}
}
