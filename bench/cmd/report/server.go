package main

import (
	"bufio"
	"log"
	"strconv"
	"strings"
)

const certificate = "certificate.pem" // in bin

// server is cmd/serve under way, which ends when its standard input does.
type server struct {
	url  string
	stop func()
}

func (m *measuring) serve(rows int, args ...string) server {
	command := m.command("serve", append(args, "-rows", strconv.Itoa(rows))...)
	stdin, err := command.StdinPipe()
	if err != nil {
		log.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		log.Fatal(err)
	}
	if err := command.Start(); err != nil {
		log.Fatal(err)
	}
	url, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		log.Fatal(err)
	}
	return server{strings.TrimSpace(url), func() {
		stdin.Close()
		_ = command.Wait()
	}}
}
