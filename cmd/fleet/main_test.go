//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// TestMain lets the test's program be any process of a fleet: with TEST_SETTINGS
// it is the program itself, quicker than in production.
func TestMain(m *testing.M) {
	if text := os.Getenv("TEST_SETTINGS"); text != "" {
		os.Exit(beProgram(text))
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // or programs inherit that it is ignored, under nohup
	_ = flag.Set("test.parallel", "8")                     // unless the command line says otherwise: they wait more than they work
	code := m.Run()
	testPostgres.Close()
	os.Exit(code)
}

func beProgram(text string) int {
	ctx := untilSignal()
	p := program{
		getenv: os.Getenv, stdin: os.Stdin, stdout: bufio.NewWriter(os.Stdout), stderr: os.Stderr,
		transport: mintlify.NewTransport(),
	}
	err := json.Unmarshal([]byte(text), &p.Settings)
	if os.Getenv("TEST_REAL_POLLS") == "" {
		p.options = []mintlify.Option{
			mintlify.WithWaitDefaults(mintlify.WithPollInterval(300*time.Millisecond, 300*time.Millisecond)),
		}
	}
	if err == nil {
		err = p.run(ctx, os.Args[1:])
	}
	return p.exit(err)
}
