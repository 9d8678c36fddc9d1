// Merge-service has the documentation changed after a merge: POST /merge records the merge, a
// worker has the agent do it, once, also through crashes, and a chat gets the pull request's link.
//
//	curl -H "Authorization: Bearer $MERGE_TOKEN" localhost:8080/merge -d '{"repository": "acme/api", "commit": "5907854", "title": "…", "description": "…"}'
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/once"
)

const usage = `merge-service takes merges by POST /merge. Its settings are in the environment:
MINTLIFY_API_KEY and MINTLIFY_PROJECT_ID, MERGE_TOKEN (which a request must bring),
CHAT_URL (a webhook of the chat), RECORDS (a folder, default records) and
ADDR (default localhost:8080). It exits with 2 if one is missing or cannot be used.
`

func main() {
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage) }
	flag.Parse() // -h alone; another flag ends the program with 2
	if flag.NArg() > 0 {
		fail(fmt.Errorf("unexpected argument %q", flag.Arg(0)))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	token, chatURL := os.Getenv("MERGE_TOKEN"), os.Getenv("CHAT_URL")
	client, err := mintlify.NewClientFromEnv()
	if err != nil || token == "" || chatURL == "" {
		fail(cmp.Or(err, errors.New("MERGE_TOKEN and CHAT_URL must be set")))
	}
	store, dirErr := once.NewDir(cmp.Or(os.Getenv("RECORDS"), "records")) // on a disk that outlives the container
	s := &service{token: token, chat: func(text string) error { return post(chatURL, text) }}
	s.runner, err = once.New(client, store, once.WithLogger(slog.Default()), once.WithOnChange(s.tell))
	listener, listenErr := (&net.ListenConfig{}).Listen(ctx, "tcp", cmp.Or(os.Getenv("ADDR"), "localhost:8080"))
	if err = cmp.Or(dirErr, err, listenErr); err != nil {
		fail(err)
	}
	http.HandleFunc("POST /merge", s.merge)
	server := http.Server{ReadTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener); stop() }()
	s.work(ctx) // it ends a send in progress before it returns
	select {
	case err := <-served:
		log.Fatal(err)
	default:
	}
}

func fail(err error) {
	log.Print(err)
	os.Exit(2)
}

type service struct {
	runner *once.Runner
	token  string
	chat   func(text string) error
}

func (s *service) merge(w http.ResponseWriter, r *http.Request) {
	if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+s.token)) != 1 {
		http.Error(w, "wrong token", http.StatusUnauthorized)
		return
	}
	var m struct{ Repository, Commit, Title, Description string }
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&m)
	if err != nil || m.Repository == "" || m.Commit == "" {
		http.Error(w, "want JSON with repository, commit, title and description", http.StatusBadRequest)
		return
	}
	if _, own := once.FindMarker(m.Description); own {
		return // the agent's own pull request: 200, and nothing to do
	}
	record, _, err := s.runner.Add(r.Context(), once.Task{
		Key:    m.Repository + "@" + m.Commit,
		Prompt: fmt.Sprintf("Update the documentation after this merge into %s.\n\n%s\n\n%s", m.Repository, m.Title, m.Description),
	})
	switch {
	case errors.Is(err, mintlify.ErrInvalidArgument):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case err != nil: // not recorded: it has to be sent again
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintln(w, record.State, record.PRLink)
	}
}

// work works off what is on record until ctx ends. A send in progress is recorded first.
func (s *service) work(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.runner.Resume(ctx); err != nil && ctx.Err() == nil {
			slog.Error("resume", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second): // until then there may be another merge
		}
	}
}

// tell tells the chat how a merge ended, or that a person must look.
func (s *service) tell(r once.Record) {
	if !r.State.IsOpen() {
		if err := s.chat(fmt.Sprintf("Docs for %s: %s %s%s", r.Key, r.State, r.PRLink, r.Problem)); err != nil {
			slog.Error("chat", "key", r.Key, "error", err) // the link is on record, and in the log
		}
	}
}

func post(url, text string) error {
	body, _ := json.Marshal(map[string]string{"text": text}) // a map of strings always can be
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := (&http.Client{Timeout: 10 * time.Second}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode > 299 {
		return errors.New("the chat responded " + response.Status)
	}
	return nil
}
