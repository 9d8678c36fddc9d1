package demo

import (
	"fmt"
	"strings"
)

var wellKnown = strings.Fields(`
	/quickstart /introduction /installation /api-reference/authentication /llms.txt
	/guides/webhooks /mcp/server /api-reference/errors /guides/migrate-to-v2 /sdks/go
	/sdks/python /guides/rate-limits /api-reference/pagination /concepts/projects
	/guides/single-sign-on /sdks/typescript /llms-full.txt /concepts/environments
	/guides/deploy /changelog /cli/install /cli/commands /mcp/tools /pricing
	/guides/testing /concepts/permissions /guides/custom-domains /security
	/guides/troubleshooting /integrations/github /integrations/slack /support
	/guides/audit-logs /concepts/events /guides/backups /integrations/terraform`)

// paths returns the paths of a site of n pages, those read most first.
func paths(n int) []string {
	all := append([]string{}, wellKnown...)
	for _, resource := range strings.Fields("users projects webhooks keys teams events files invoices jobs searches domains roles") {
		for _, action := range strings.Fields("list create get update delete") {
			all = append(all, "/api-reference/"+resource+"/"+action)
		}
	}
	for i := 1; len(all) < n; i++ {
		all = append(all, fmt.Sprintf("/knowledge/article-%04d", i))
	}
	return all[:n]
}

// affinity returns how much more AIs read a page than humans do.
func affinity(path string) float64 {
	for _, rule := range []struct {
		prefix string
		factor float64
	}{
		{"/llms", 14}, {"/mcp", 5}, {"/api-reference", 2}, {"/sdks", 1.6}, {"/cli", 1.2},
		{"/pricing", 0.2}, {"/support", 0.2}, {"/changelog", 0.4}, {"/knowledge", 0.5},
	} {
		if strings.HasPrefix(path, rule.prefix) {
			return rule.factor
		}
	}
	return 0.8
}
