// Command serve is the service on a loopback socket, as a process of its own: over
// HTTP/1.1, or over HTTP/2 with 100 streams a connection. It prints its URL. A GET of
// /connections returns how many it has accepted.
package main

import (
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"

	"github.com/mintlify-community/mintlify-go/bench/service"
)

func main() {
	rows := flag.Int("rows", 0, "rows of the export")
	certificate := flag.String("certificate", "", "serve HTTP/2, and write the server's certificate to this `file`")
	flag.Parse()

	var connections atomic.Int64
	mux := http.NewServeMux()
	mux.Handle("/", service.New(*rows))
	mux.HandleFunc("/connections", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, connections.Load())
	})

	server := httptest.NewUnstartedServer(mux)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 100}
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}

	if *certificate == "" {
		server.Start()
	} else {
		server.EnableHTTP2 = true
		server.StartTLS()
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
		if err := os.WriteFile(*certificate, text, 0o600); err != nil {
			log.Fatal(err)
		}
	}

	fmt.Println(server.URL)
	select {}
}
