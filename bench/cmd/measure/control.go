package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// control queries the server itself, on one connection that is open before connections
// are first counted.
var control = &http.Client{Transport: &http.Transport{}}

// ask returns how many connections or requests the server has had so far. Requests of
// its own it does not count.
func ask(server, what string) (n int64, err error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, server+"/"+what, nil)
	if err != nil {
		return 0, err
	}
	resp, err := control.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&n); err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return n, nil
}
