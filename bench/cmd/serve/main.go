// Command serve is the service on a loopback socket. It prints its URL; a GET of
// /connections returns how many it has accepted. It ends when its standard input does.
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
	flag.Parse()
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	var opened atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/connections", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, opened.Load()) })
	mux.Handle("/", service.New(*rows))
	server := &http.Server{Handler: mux, ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Printf("http://%s\n", listener.Addr())
	log.Fatal(server.Serve(listener))
}
