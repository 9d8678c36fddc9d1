package transport

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/mintlify-community/mintlify-go/internal/status"
)

// ProxyError is the response of a proxy that refused to open a tunnel to the service. Nothing
// was sent.
type ProxyError struct {
	// Address is the proxy's host and port.
	Address string
	// StatusCode is the status of the proxy's response.
	StatusCode int
}

func (e *ProxyError) Error() string {
	status := fmt.Sprintf("%d %s", e.StatusCode, http.StatusText(e.StatusCode))
	return fmt.Sprintf("the proxy %s responded %s to CONNECT", e.Address, strings.TrimSpace(status))
}

// IsFinal reports whether the proxy would respond the same to another attempt.
func (e *ProxyError) IsFinal() bool { return !status.Of(e.StatusCode).Passes }

// checkTunnel is an OnProxyConnectResponse. Without it net/http reports no more than the text of
// the status, which reads as if the service had responded.
func checkTunnel(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	address := net.JoinHostPort(proxy.Hostname(), PortOf(proxy)) // without the user and the password
	return &ProxyError{Address: address, StatusCode: resp.StatusCode}
}

// PortOf returns the port of a URL, which is that of its scheme if it names none.
func PortOf(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
