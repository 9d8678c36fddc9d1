package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v92/github"
	"golang.org/x/sync/errgroup"
)

// maxEvent is the size of the largest event that GitHub delivers.
const maxEvent = 25 << 20

// projects says which of the service's projects documents a repository.
type projects struct {
	byRepository map[string]string
	rest         string // of all other repositories; "" for none
}

// set takes owner/repo=project, or a project for all other repositories.
func (p *projects) set(text string) error {
	repository, project, found := strings.Cut(text, "=")
	if !found {
		p.rest = text
		return checkProject(text)
	}
	if !isRepository(repository) {
		return errors.New("want owner/repo=project, or a project for all other repositories")
	}
	p.byRepository[strings.ToLower(repository)] = project
	return checkProject(project)
}

func (p *projects) of(repository string) string {
	if project, ok := p.byRepository[strings.ToLower(repository)]; ok {
		return project
	}
	return p.rest
}

// webhooks takes GitHub's webhooks.
type webhooks struct {
	secret   []byte
	projects projects
	store    store
	logger   *slog.Logger
}

func (h *webhooks) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /github", func(rw http.ResponseWriter, r *http.Request) {
		status, text := h.receive(rw, r)
		h.logger.Log(r.Context(), levelOf(status), "webhook", "status", status, "delivery", oneLine(github.DeliveryID(r), 80), "event", oneLine(github.WebHookType(r), 80), "response", text)
		http.Error(rw, text, status)
	})
	mux.HandleFunc("GET /healthz", func(rw http.ResponseWriter, r *http.Request) {
		if _, err := rowsOf(r.Context(), h.store, "WHERE key = ''"); err != nil {
			h.logger.Error("healthz", "error", err)
			http.Error(rw, "the database cannot be reached", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(rw, "ok")
	})
	return mux
}

func levelOf(status int) slog.Level {
	if status >= 500 {
		return slog.LevelError
	}
	return slog.LevelInfo
}

// receive returns 202 once a merge is stored, and 200 for an event that asks for
// nothing.
func (h *webhooks) receive(rw http.ResponseWriter, r *http.Request) (status int, text string) {
	// ValidatePayload would take SHA-1 where there is no SHA-256.
	if !strings.HasPrefix(r.Header.Get(github.SHA256SignatureHeader), "sha256=") {
		return http.StatusUnauthorized, "no SHA-256 signature: set the webhook's secret"
	}
	r.Body = http.MaxBytesReader(rw, r.Body, maxEvent)
	payload, err := github.ValidatePayload(r, h.secret)
	if errors.As(err, new(*http.MaxBytesError)) {
		return http.StatusRequestEntityTooLarge, "the event is larger than any of GitHub's"
	}
	if err != nil {
		return http.StatusUnauthorized, "the signature is not of this body and this server's secret"
	}
	event, err := github.ParseWebHook(github.WebHookType(r), payload)
	if err != nil {
		return http.StatusBadRequest, "not an event of GitHub: " + oneLine(err.Error(), 200)
	}
	m, why := mergeOf(event)
	if why != "" {
		return http.StatusOK, "nothing to do: " + why
	}
	return h.enqueue(r.Context(), m)
}

func (h *webhooks) enqueue(ctx context.Context, m merge) (status int, text string) {
	project := h.projects.of(m.Repository)
	if project == "" {
		return http.StatusUnprocessableEntity, "no project documents this repository: see fleet serve -project"
	}
	p, err := m.prompt(project)
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	added, err := h.store.add(ctx, p)
	switch {
	case err != nil:
		h.logger.Error("a merge could not be stored", "key", p.Key, "error", err)
		return http.StatusServiceUnavailable, "not stored: deliver it again"
	case added == 0:
		return http.StatusAccepted, "known already: " + p.Key
	}
	return http.StatusAccepted, "enqueued: " + p.Key
}

// mergeOf returns the merge that an event tells of, or why there is none. The push and
// the pull request of one merge name the same commit.
func mergeOf(event any) (m merge, why string) {
	switch e := event.(type) {
	case *github.PullRequestEvent:
		return mergeOfPullRequest(e)
	case *github.PushEvent:
		return mergeOfPush(e)
	}
	return merge{}, "neither a push nor a pull request"
}

func mergeOfPullRequest(e *github.PullRequestEvent) (m merge, why string) {
	pr := e.GetPullRequest()
	switch {
	case e.GetAction() != "closed" || !pr.GetMerged():
		return merge{}, "not merged"
	case pr.GetBase().GetRef() != e.GetRepo().GetDefaultBranch():
		return merge{}, "not merged into the default branch"
	}
	return merge{Repository: e.GetRepo().GetFullName(), SHA: pr.GetMergeCommitSHA(),
		Pull: pr.GetNumber(), Title: pr.GetTitle(), Body: pr.GetBody()}, ""
}

func mergeOfPush(e *github.PushEvent) (m merge, why string) {
	branch := e.GetRepo().GetDefaultBranch()
	switch {
	case e.GetRef() != "refs/heads/"+branch:
		return merge{}, "not a push to the default branch"
	case e.GetDeleted():
		return merge{}, "the branch was deleted"
	}
	m = merge{Repository: e.GetRepo().GetFullName(), SHA: e.GetAfter()}
	for _, commit := range e.Commits {
		subject, _, _ := strings.Cut(commit.GetMessage(), "\n")
		m.Commits = append(m.Commits, subject)
		for _, files := range [][]string{commit.Added, commit.Modified, commit.Removed} {
			m.Files = append(m.Files, files...)
		}
	}
	return m, ""
}

// serveAndWork serves and works until ctx ends, or one of them fails, and lets what is
// under way come to its end.
func serveAndWork(ctx context.Context, listener net.Listener, handler http.Handler, work func(context.Context) error) error {
	server := &http.Server{Handler: handler, ReadTimeout: 10 * time.Second, WriteTimeout: 20 * time.Second, IdleTimeout: time.Minute} // GitHub gives up after 10 s
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return work(ctx) })
	both.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	both.Go(func() error {
		<-ctx.Done()
		return server.Shutdown(context.WithoutCancel(ctx))
	})
	return both.Wait()
}
