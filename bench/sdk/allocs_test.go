//go:build !race

// The race detector allocates too, so these tests are left out under it.

package sdk

import (
	"net/http"
	"testing"

	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

// ceilings are allocations of one call, the transport's three or so included: a
// little above what docs/performance.md says, since Go's own share varies from
// release to release.
var ceilings = []struct {
	name   string
	most   float64
	answer service.Fixed
	call   func(*testing.T, bench.Client) error
}{
	{"Get", 52, service.Fixed{Status: http.StatusOK, Body: []byte(service.JobBody)}, func(t *testing.T, c bench.Client) error {
		_, err := c.Get(t.Context(), "job_1")
		return err
	}},
	{"Create", 63, service.Fixed{Status: http.StatusCreated, Body: []byte(service.JobBody)}, func(t *testing.T, c bench.Client) error {
		_, err := c.Create(t.Context(), "Fix the typos")
		return err
	}},
	{"Page", 310, service.Fixed{Status: http.StatusOK, Body: service.FirstPage()}, func(t *testing.T, c bench.Client) error {
		_, err := c.Page(t.Context(), 0, bench.MaxLimit, func(bench.Row) {})
		return err
	}},
}

func TestAllocationsStayUnderTheirCeilings(t *testing.T) {
	for _, op := range ceilings {
		t.Run(op.name, func(t *testing.T) {
			client := New("http://127.0.0.1:1", op.answer)
			allocations := testing.AllocsPerRun(200, func() {
				if err := op.call(t, client); err != nil {
					t.Fatal(err)
				}
			})
			t.Logf("%v allocations, at most %v", allocations, op.most)
			if allocations > op.most {
				t.Errorf("%v allocations, more than the %v that are written down", allocations, op.most)
			}
		})
	}
}
