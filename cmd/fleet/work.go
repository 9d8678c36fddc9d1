package main

import (
	"context"
	"log/slog"
	"net/http"
)

// work sends the queued prompts and follows their jobs.
func (p *program) work(ctx context.Context) error { return p.workAndServe(ctx, nil) }

// serve works, and enqueues the merges that webhooks report.
func (p *program) serve(ctx context.Context) error {
	secret := p.getenv("FLEET_GITHUB_SECRET")
	switch {
	case secret == "":
		return usageError("FLEET_GITHUB_SECRET is not set: without the webhook's secret anybody could enqueue")
	case len(p.projects) == 0:
		return usageError("-project or -projects is missing: which project documents the repositories?")
	case p.prompt.Priority < 1 || p.prompt.Priority > 4:
		return usageError("-priority is %d, want 1 to 4", p.prompt.Priority)
	}

	return p.workAndServe(ctx, func(w *worker) http.Handler { return p.newWebhooks(w, secret).handler() })
}

// workAndServe works, and serves webhooks, unless that is nil, and the admin's pages.
func (p *program) workAndServe(ctx context.Context, webhooks func(*worker) http.Handler) error {
	if err := p.settings.check(); err != nil {
		return err
	}
	if p.logFormat != "text" && p.logFormat != "json" {
		return usageError("-log-format is %q, want text or json", p.logFormat)
	}

	client, err := p.client()
	if err != nil {
		return err
	}
	results, err := newTeller(p.getenv)
	if err != nil {
		return err
	}

	return p.withStore(ctx, true, slog.LevelInfo, func(s store) error {
		w := newWorker(s, client, results)
		servers := map[string]*http.Server{"admin": newServer(p.adminAddr, admin{s}.handler(w.posts))}
		if webhooks != nil {
			servers["webhooks"] = newServer(p.addr, webhooks(w))
		}
		return serveAndWork(ctx, w, servers)
	})
}
