package usage_test

import (
	"errors"
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
)

func TestErrorfMarksAnErrorThroughWrapping(t *testing.T) {
	cause := errors.New("no such folder")
	err := fmt.Errorf("open: %w", usage.Errorf("-db: %w", cause))

	assert.True(t, usage.Is(err))
	assert.ErrorIs(t, err, cause)
	assert.EqualError(t, err, "open: -db: no such folder")

	assert.False(t, usage.Is(cause))
	assert.False(t, usage.Is(nil))
}

func TestKeysSaysWhereToGetThem(t *testing.T) {
	const page = "https://app.mintlify.com/settings/organization/api-keys"
	env := map[string]string{}
	getenv := func(name string) string { return env[name] }
	assert.EqualError(t, usage.Keys(getenv), "MINTLIFY_API_KEY is not set: make an admin key at "+page)

	env["MINTLIFY_API_KEY"] = "mint_key"
	env["MINTLIFY_PROJECT_ID"] = " "
	assert.EqualError(t, usage.Keys(getenv), "MINTLIFY_PROJECT_ID is not set: copy the project id from "+page)
	assert.True(t, usage.Is(usage.Keys(getenv)))

	env["MINTLIFY_PROJECT_ID"] = "p"
	assert.NoError(t, usage.Keys(getenv))
}

func TestClientNamesTheVariables(t *testing.T) {
	refusal := func(key, project, baseURL string) error {
		_, err := mintlify.NewClient(key, project, mintlify.WithBaseURL(baseURL))
		return usage.Client(err)
	}
	assert.EqualError(t, refusal(`"mint_key"`, "p", "https://x"),
		"mintlify: MINTLIFY_API_KEY has a quote at an end: give the key itself")
	assert.EqualError(t, refusal("mint_abc", "p", "localhost"), "mintlify: MINTLIFY_BASE_URL starts neither with https:// "+
		"nor, for this machine, with http://")
	assert.EqualError(t, refusal("mint_abc", "p", "http://x.example"), "mintlify: MINTLIFY_BASE_URL is plain http, "+
		"which would show the key to the network: use https", "without an option of Go")
	assert.ErrorContains(t, refusal("mint_abc", "", "https://x"), "projectID is empty")
	assert.True(t, usage.Is(refusal("mint_abc", "", "https://x")))
	assert.ErrorIs(t, refusal(`"mint_key"`, "p", "https://x"), mintlify.ErrInvalidArgument)
}

func TestParseRefusesAFlagThatIsGivenAndEmpty(t *testing.T) {
	parse := func(args ...string) error {
		flags := flag.NewFlagSet("x", flag.ContinueOnError)
		flags.SetOutput(t.Output()) // which Parse replaces
		flags.String("job", "", "")
		flags.Bool("demo", false, "")
		flags.Int("n", 0, "")
		flags.Func("path", "", func(string) error { return nil })
		return usage.Parse(flags, args)
	}

	assert.NoError(t, parse("-job", "1", "-path=a", "--demo", "-demo=false", "-n", "1"))
	assert.NoError(t, parse("-job", "-a=", "-path", "- b ="), "values, not flags")
	assert.NoError(t, parse("-demo", "operand", "-job", ""))
	assert.ErrorIs(t, parse("-h"), flag.ErrHelp)
	assert.True(t, usage.Is(parse("-nope")))
	for _, args := range [][]string{{"-job", ""}, {"-job", " "}, {"-job="}, {"-path="}, {"-path", ""}, {"-demo="}, {"--n", ""},
		{"-demo", "-job", "1", "-path="}} {
		assert.Regexp(t, "^-[a-z]+ is given and empty: is its variable set[?]$", parse(args...), "%q", args)
	}
}
