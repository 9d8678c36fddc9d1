//go:build unix

package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/processes"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// gateway is a program that passes requests over HTTP/2 and TLS to a service.
type gateway struct {
	program string
	folder  string // of its configuration, its certificate and its socket
	roots   *x509.CertPool
}

// newGateway returns a gateway that is not running yet. The test is skipped if the program is not
// installed, but fails in CI.
func newGateway(t *testing.T, name string) *gateway {
	t.Helper()
	program, err := findProgram(name)
	if err != nil && os.Getenv("CI") == "" {
		t.Skipf("%s is missing: on Debian apt-get install %s", name, name)
	}
	require.NoError(t, err)

	folder, err := os.MkdirTemp("", name) // short: a socket's path has at most 107 bytes
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })

	g := &gateway{program: program, folder: folder}
	g.writeCertificate(t)
	return g
}

// findProgram looks in PATH, and where Debian puts servers.
func findProgram(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return exec.LookPath("/usr/sbin/" + name)
}

// writeCertificate writes a certificate and its key to one file.
func (g *gateway) writeCertificate(t *testing.T) {
	t.Helper()
	standard := httptest.NewTLSServer(http.NotFoundHandler())
	defer standard.Close()
	certificate := standard.TLS.Certificates[0]
	g.roots = x509.NewCertPool()
	g.roots.AddCert(standard.Certificate())

	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	require.NoError(t, err)
	file := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
	file = append(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...)
	require.NoError(t, os.WriteFile(g.path("certificate.pem"), file, 0o600))
}

func (g *gateway) path(name string) string { return filepath.Join(g.folder, name) }

// configure writes a configuration. $FOLDER in it is the gateway's folder, and $SERVICE is the
// service's address.
func (g *gateway) configure(t *testing.T, configuration string, service *httptest.Server) {
	t.Helper()
	names := strings.NewReplacer("$FOLDER", g.folder, "$SERVICE", service.Listener.Addr().String())
	require.NoError(t, os.WriteFile(g.path("configuration"), []byte(names.Replace(configuration)), 0o600))
}

// start runs the program until the test ends, and waits until it takes connections.
func (g *gateway) start(t *testing.T, args ...string) {
	t.Helper()
	log, err := os.Create(g.path("log"))
	require.NoError(t, err)
	defer log.Close()

	cmd := exec.Command(g.program, args...)
	cmd.SysProcAttr = processes.DyingWithParent()
	cmd.Stdout = log
	cmd.Stderr = log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})

	takesConnections := func() bool {
		conn, err := g.dial(t.Context(), "", "")
		if err == nil {
			conn.Close()
		}
		return err == nil
	}
	if !assert.Eventually(t, takesConnections, 20*time.Second, 10*time.Millisecond) {
		said, _ := os.ReadFile(g.path("log"))
		t.Fatalf("%s did not start: %s", g.program, said)
	}
}

func (g *gateway) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "unix", g.path("socket"))
}

// client returns a client of the service behind the gateway.
func (g *gateway) client(t *testing.T, opts ...mintlify.Option) *mintlify.Client {
	t.Helper()
	transport := mintlify.NewTransport()
	transport.Proxy = nil
	transport.DialContext = g.dial
	transport.TLSClientConfig = &tls.Config{RootCAs: g.roots}
	t.Cleanup(transport.CloseIdleConnections)

	opts = append(opts, mintlify.WithBaseURL("https://example.com"),
		mintlify.WithHTTPClient(&http.Client{Transport: transport}))
	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, opts...)
	require.NoError(t, err)
	return client
}

// createAll creates a job for each of n prompts with several workers, and returns the errors.
func createAll(t *testing.T, client *mintlify.Client, n, workers int) []error {
	t.Helper()
	errs := make([]error, n)
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				_, errs[i] = client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: strconv.Itoa(int(i))})
			}
		})
	}
	all.Wait()
	return errs
}

const renewingNginx = `
daemon off;
pid $FOLDER/pid;
error_log $FOLDER/errors;
worker_processes 1;
events {
	worker_connections 1024;
}
http {
	access_log off;
	client_body_temp_path $FOLDER/client;
	proxy_temp_path $FOLDER/proxy;
	fastcgi_temp_path $FOLDER/fastcgi;
	uwsgi_temp_path $FOLDER/uwsgi;
	scgi_temp_path $FOLDER/scgi;
	keepalive_requests 20;
	server {
		listen unix:$FOLDER/socket ssl http2;
		ssl_certificate $FOLDER/certificate.pem;
		ssl_certificate_key $FOLDER/certificate.pem;
		location / {
			proxy_pass http://$SERVICE;
		}
	}
}
`

// nginx renews a connection after 20 requests, by a GOAWAY that refuses those in progress.
func TestGatewayThatRenewsItsConnectionsMakesNoPromptUnknown(t *testing.T) {
	const creates, workers = 1600, 16
	for name, opts := range map[string][]mintlify.Option{
		"default retries":   nil,
		"WithMaxRetries(0)": {mintlify.WithMaxRetries(0)},
	} {
		t.Run(name, func(t *testing.T) {
			svc := mintlifytest.NewService()
			service := httptest.NewServer(svc)
			defer service.Close()

			nginx := newGateway(t, "nginx")
			configuration := renewingNginx
			if os.Getuid() == 0 {
				configuration = "user root;" + configuration
			}
			nginx.configure(t, configuration, service)
			nginx.start(t, "-c", nginx.path("configuration"), "-p", nginx.folder)

			var attempts atomic.Int64
			counting := mintlify.WithRateLimiter(func(context.Context, mintlify.RequestInfo) error {
				attempts.Add(1)
				return nil
			})
			failed := 0
			for i, err := range createAll(t, nginx.client(t, append(opts, counting)...), creates, workers) {
				if err != nil {
					failed++
					t.Logf("prompt %d: %v", i, err)
				}
			}

			t.Logf("%d creates, %d attempts, %d jobs", creates, attempts.Load(), len(svc.Jobs()))
			assert.Zero(t, failed)
			assert.Len(t, svc.Jobs(), creates)
			assert.Greater(t, attempts.Load(), int64(creates), "no request met a GOAWAY")
		})
	}
}

const defaultHAProxy = `
global
	maxconn 1000
defaults
	mode http
	timeout connect 5s
	timeout client 30s
	timeout server 30s
frontend gateway
	bind unix@$FOLDER/socket ssl crt $FOLDER/certificate.pem alpn h2
	default_backend service
backend service
	server service $SERVICE
`

// closing is a service that closes the connection instead of responding to every fifth request.
type closing struct {
	svc      *mintlifytest.Service
	requests atomic.Int64
	deprived sync.Map // prompts without a response
}

func (c *closing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c.requests.Add(1)%5 != 0 {
		c.svc.ServeHTTP(w, r)
		return
	}

	response := httptest.NewRecorder()
	prompt, _ := promptOf(r)
	c.svc.ServeHTTP(response, r)
	c.deprived.Store(prompt, true)
	panic(http.ErrAbortHandler)
}

func (c *closing) hasDeprived(prompt string) bool {
	_, ok := c.deprived.Load(prompt)
	return ok
}

// haproxy resets a request with REFUSED_STREAM if the service has closed a connection in use.
func TestGatewayThatRefusesWhatTheServiceActedOnMakesNoJobTwice(t *testing.T) {
	const creates, workers = 200, 4
	service := &closing{svc: mintlifytest.NewService()}
	server := httptest.NewServer(service)
	defer server.Close()

	haproxy := newGateway(t, "haproxy")
	haproxy.configure(t, defaultHAProxy, server)
	haproxy.start(t, "-db", "-f", haproxy.path("configuration"))

	deprived, refused := 0, 0
	errs := createAll(t, haproxy.client(t), creates, workers)
	times := acted(service.svc)
	for i, err := range errs {
		prompt := fmt.Sprint(i)
		assert.Equal(t, 1, times[prompt], "prompt %d: %v", i, err)
		isDeprived := service.hasDeprived(prompt)
		assert.Equal(t, isDeprived, errors.Is(err, mintlify.ErrOutcomeUnknown), "prompt %d: %v", i, err)
		if isDeprived {
			deprived++
		}
		if err != nil && strings.Contains(err.Error(), "REFUSED_STREAM") {
			refused++
		}
	}

	t.Logf("%d creates, %d without a response, %d of them refused", creates, deprived, refused)
	assert.NotZero(t, deprived)
	assert.NotZero(t, refused, "haproxy refused nothing")
}
