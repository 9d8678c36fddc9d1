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
)

// escapeForChat keeps a text by others from mentioning everybody or hiding a link in Slack and
// Mattermost.
var escapeForChat = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// chat is an incoming webhook of Slack, Mattermost or the like.
type chat struct {
	url string // whoever has it can post: it stays out of logs and errors
}

func (c chat) post(ctx context.Context, text string) error {
	body, err := json.Marshal(map[string]string{"text": escapeForChat.Replace(text)})
	if err != nil {
		return err
	}

	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("CHAT_URL is not a valid URL")
	}
	request.Header.Set("Content-Type", "application/json")

	response, err := http.DefaultClient.Do(request)
	if withURL, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("post to CHAT_URL: %w", withURL.Err)
	}
	if err != nil {
		return err
	}
	defer response.Body.Close()

	if response.StatusCode > 299 {
		return errors.New("CHAT_URL responded " + response.Status)
	}
	return nil
}
