//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

type deployed struct {
	Kind     string
	Data     map[string]string
	Services map[string]struct {
		Command         []string
		Environment     map[string]string
		StopGracePeriod string `yaml:"stop_grace_period"`
		Ports           []string
	}
	Spec struct {
		Template struct {
			Spec struct {
				Grace      int `yaml:"terminationGracePeriodSeconds"`
				Containers []struct {
					Args     []string
					Liveness struct {
						HTTPGet struct{ Path string } `yaml:"httpGet"`
					} `yaml:"livenessProbe"`
					Readiness struct {
						HTTPGet struct{ Path string } `yaml:"httpGet"`
					} `yaml:"readinessProbe"`
				}
			}
		}
	}
}

func readYAML(t *testing.T, name string) (documents []deployed) {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var d deployed
		if err := decoder.Decode(&d); errors.Is(err, io.EOF) {
			return documents
		} else {
			require.NoError(t, err)
		}
		documents = append(documents, d)
	}
}

// starts checks that the program takes the arguments that a container gives it: it gets as
// far as to its database, which refuses.
func starts(t *testing.T, arguments []string) {
	t.Helper()
	environment := map[string]string{"MINTLIFY_API_KEY": mintlifytest.APIKey, "FLEET_GITHUB_SECRET": "x"}
	_, text, code := terminal{
		t, "host=127.0.0.1 port=1 user=fleet dbname=fleet password=x connect_timeout=1",
	}.runAll("", environment, arguments...)
	assert.Equal(t, 1, code)
	assert.Contains(t, text, "failed to connect")
}

// startsWith checks arguments that name the file of projects in a container.
func startsWith(t *testing.T, arguments []string, projects string) {
	t.Helper()
	for i, argument := range arguments {
		arguments[i] = strings.ReplaceAll(argument, "/etc/fleet/projects", projects)
	}
	starts(t, arguments)
}

func TestDeploy(t *testing.T) {
	compose := readYAML(t, "deploy/compose.yaml")[0].Services["fleet"]
	projects := filepath.Join(t.TempDir(), "projects")
	write(t, projects, testProject+"\n")
	startsWith(t, compose.Command, projects)
	assert.Equal(t, "90s", compose.StopGracePeriod)
	for _, port := range compose.Ports {
		assert.Contains(t, port, "127.0.0.1:", "a proxy ends TLS")
	}

	kubernetes := readYAML(t, "deploy/kubernetes.yaml")
	require.Len(t, kubernetes, 3)
	assert.Equal(t, "ConfigMap", kubernetes[1].Kind)

	pod := kubernetes[0].Spec.Template.Spec
	assert.Equal(t, 95, pod.Grace, "the preStop hook, -send-time and 30 s")

	write(t, projects, kubernetes[1].Data["projects"])
	startsWith(t, pod.Containers[0].Args, projects)
	assert.Equal(t, "/livez", pod.Containers[0].Liveness.HTTPGet.Path)
	assert.Equal(t, "/readyz", pod.Containers[0].Readiness.HTTPGet.Path)

	unit, err := os.ReadFile("deploy/fleet.service")
	require.NoError(t, err)
	line := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/fleet (.*)$`).FindSubmatch(unit)
	startsWith(t, strings.Fields(string(line[1])), projects)

	dockerfile, err := os.ReadFile("Dockerfile")
	require.NoError(t, err)
	command := regexp.MustCompile(`(?m)^CMD \[(.*)\]$`).FindSubmatch(dockerfile)
	starts(t, strings.Split(strings.ReplaceAll(string(command[1]), `"`, ""), ", "))
}

// TestAlerts has promtool check the rules, and show that each fires, and none in a maintenance.
func TestAlerts(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not there: it is in Debian's package prometheus")
	}
	for _, arguments := range [][]string{
		{"check", "rules", "deploy/alerts.yaml"}, {"test", "rules", "deploy/alerts_test.yaml"},
	} {
		output, err := exec.Command(promtool, arguments...).CombinedOutput()
		assert.NoError(t, err, "%s", output)
	}
}

// exportedBy returns the metrics of a process.
func exportedBy(t *testing.T, s queue.Queue) string {
	w := queue.NewWorker(s, nil, nil)
	w.Posts.WithLabelValues("running").Inc()
	hooks := github.NewWebhooks(w, testSecret, nil, merges.DefaultAuthors(), 2)
	return exportedWith(t, s, w, hooks)
}

func exportedWith(t *testing.T, s queue.Queue, w *queue.Worker, hooks *github.Webhooks) string {
	response := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
	(&admin{Queue: s}).handler(w.Posts, hooks.Counts).ServeHTTP(response, request)
	return response.Body.String()
}

// TestEveryMetricIsExported that an alert or the dashboard names. A rule that names another never fires.
func TestEveryMetricIsExported(t *testing.T) {
	t.Parallel()
	s := openStore(t, "sqlite:"+sqliteFile(t))
	add(t, s, promptOf(1, testProject))
	add(t, s, database.Prompt{Key: "acme/api@1", Project: "held", Prompt: "x"})
	require.NoError(t, s.StopRepository(t.Context(), "acme/api", "x"))
	require.NoError(t, s.Stop(t.Context(), testProject, "x"))
	exported := exportedBy(t, s)
	assert.Contains(t, exported, `fleet_oldest_queued_seconds{project="held"} 0`+"\n", "a person has paused its repository")
	assert.Contains(t, exported, `fleet_paused{project="project-1",reason="person",source="person"} 1`)

	for _, file := range []string{"deploy/alerts.yaml", "deploy/dashboard.json", "../../docs/fleet.md"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		names := regexp.MustCompile(`\b(fleet_[a-z_]+[a-z]|process_[a-z_]+|go_goroutines)\b`).FindAllString(string(text), -1)
		require.NotEmpty(t, names, file)
		for _, name := range names {
			assert.Contains(t, exported, "# TYPE "+name+" ", "%s names it", file)
		}
	}
}

// TestDockerfileBuild runs the Dockerfile's own build command, and the binary it makes.
func TestDockerfileBuild(t *testing.T) {
	if !isLong() {
		t.Skip("it builds everything anew, which takes a while: set MINTLIFY_LONG=1")
	}
	t.Parallel()
	dockerfile, err := os.ReadFile("Dockerfile")
	require.NoError(t, err)
	found := regexp.MustCompile(`(?ms)^RUN (CGO_ENABLED=0 GOOS=\$TARGETOS GOARCH=\$TARGETARCH go build .*?) -o /fleet \.$`).FindSubmatch(dockerfile)
	require.NotNil(t, found)

	binary := filepath.Join(t.TempDir(), "fleet")
	build := exec.Command("sh", "-c", string(found[1])+` -o "$BINARY" .`)
	build.Dir = "../.."
	build.Env = append(os.Environ(), "BINARY="+binary, "VERSION=v9.8.7", "COMMIT=5907854", "GOFLAGS=-buildvcs=false")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	output, err = exec.Command(binary, "--version").CombinedOutput()
	require.NoError(t, err)
	assert.Equal(t, "fleet v9.8.7, commit 5907854\n", string(output))
}
