//go:build unix

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// TestMain lets the test's program be any process of a fleet: with FLEET_TEST_SETTINGS
// it is the program itself, quicker than in production.
func TestMain(m *testing.M) {
	if text := os.Getenv("FLEET_TEST_SETTINGS"); text != "" {
		os.Exit(beProgram(text))
	}
	_ = flag.Set("test.parallel", "8") // unless the command line says otherwise: they wait more than they work
	code := m.Run()
	server.stop()
	os.Exit(code)
}

func beProgram(text string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	p := program{getenv: os.Getenv, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	err := json.Unmarshal([]byte(text), &p.settings)
	if os.Getenv("FLEET_TEST_REAL_POLLS") == "" {
		p.options = []mintlify.Option{mintlify.WithWaitDefaults(mintlify.WithPollInterval(300*time.Millisecond, 300*time.Millisecond))}
	}
	if err == nil && os.Getenv("FLEET_TEST_STOP") != "" {
		err = p.workAndStop(ctx)
	} else if err == nil {
		err = p.run(ctx, os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// workAndStop is work, but the process stops itself, once, when its first intent has
// been committed.
func (p *program) workAndStop(ctx context.Context) error {
	return p.withWorker(ctx, func(w *worker) error {
		w.store.database = &stopping{database: w.store.database}
		return work(ctx, w, w.logger)
	})
}

type stopping struct {
	database
	stopped bool
}

func (s *stopping) transact(ctx context.Context, lock string, f func(*tx) error) error {
	err := s.database.transact(ctx, lock, f)
	if lock == "project "+testProject && !s.stopped {
		s.stopped = true
		if lite, ok := s.database.(*sqlite); ok { // nobody else may be stopped with the file locked
			conn, connErr := lite.db.Conn(ctx)
			if connErr != nil {
				return connErr
			}
			defer conn.Close()
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		time.Sleep(time.Second) // this thread may go on for a moment
	}
	return err
}
