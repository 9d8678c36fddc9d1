package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
)

// chat posts {"text": …}, as Slack, Mattermost, Discord (at …/slack) and others take it.
type chat struct {
	url    string // a secret: anybody who knows the URL can post
	client *http.Client
}

func (c chat) tell(ctx context.Context, rows []database.Row) (told []database.Row, err error) {
	sentences := make([]string, len(rows))
	for i, r := range rows {
		sentences[i] = merges.EscapeForChat(queue.Sentence(r))
	}

	if err := c.post(ctx, strings.Join(sentences, "\n")); err != nil {
		return nil, fmt.Errorf("post results to FLEET_RESULTS_URL: %w", err)
	}
	return rows, nil
}

// post posts a text. Its errors do not show the URL.
func (c chat) post(ctx context.Context, text string) error {
	body, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("it is not a URL")
	}
	req.Header.Set("Content-Type", "application/json")

	resp, err := c.client.Do(req)
	if withURL, found := errors.AsType[*url.Error](err); found {
		return withURL.Err
	}
	if err != nil {
		return err
	}

	resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return errors.New(resp.Status)
	}
	return nil
}
