//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

type deployed struct {
	Kind     string
	Services map[string]struct {
		Command         []string
		Environment     map[string]string
		StopGracePeriod string `yaml:"stop_grace_period"`
		Build           struct{ Context, Dockerfile string }
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
	for i, argument := range arguments {
		arguments[i] = strings.ReplaceAll(argument, "${FLEET_PROJECT:?}", "project")
	}
	_, text, code := terminal{
		t, "host=127.0.0.1 port=1 user=fleet dbname=fleet password=x connect_timeout=1",
	}.runAll("", environment, arguments...)
	assert.Equal(t, 1, code)
	assert.Contains(t, text, "failed to connect")
}

func TestDeploy(t *testing.T) {
	compose := readYAML(t, "deploy/compose.yaml")[0].Services["fleet"]
	starts(t, compose.Command)
	assert.Equal(t, "90s", compose.StopGracePeriod)
	assert.FileExists(t, filepath.Join("deploy", compose.Build.Context, compose.Build.Dockerfile))

	kubernetes := readYAML(t, "deploy/kubernetes.yaml")
	require.Len(t, kubernetes, 2)

	pod := kubernetes[0].Spec.Template.Spec
	assert.Equal(t, 90, pod.Grace)

	starts(t, pod.Containers[0].Args)
	assert.Equal(t, "/livez", pod.Containers[0].Liveness.HTTPGet.Path)
	assert.Equal(t, "/readyz", pod.Containers[0].Readiness.HTTPGet.Path)

	dockerfile, err := os.ReadFile("Dockerfile")
	require.NoError(t, err)
	command := regexp.MustCompile(`(?m)^CMD \[(.*)\]$`).FindSubmatch(dockerfile)
	starts(t, strings.Split(strings.ReplaceAll(string(command[1]), `"`, ""), ", "))
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
	build := exec.Command("sh", "-c", string(found[1])+" -o "+binary+" .")
	build.Dir, build.Env = "../..", append(os.Environ(), "VERSION=v9.8.7", "COMMIT=5907854")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	output, err = exec.Command(binary, "--version").CombinedOutput()
	require.NoError(t, err)
	assert.Equal(t, "fleet v9.8.7, commit 5907854\n", string(output))
}
