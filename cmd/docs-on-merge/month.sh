#!/usr/bin/env bash
# Lists the merges of a time into a repository's main branch, and counts the jobs:
# month.sh OWNER/NAME FROM UNTIL, such as month.sh acme/api 2026-10-01 2026-11-01. It needs gh and jq.
set -euo pipefail
[ $# = 3 ] || { echo "usage: month.sh OWNER/NAME FROM UNTIL" >&2; exit 2; }

gh api graphql --paginate -f owner="${1%/*}" -f name="${1#*/}" -f since="$2T00:00:00Z" -f query='
  query($owner: String!, $name: String!, $since: GitTimestamp!, $endCursor: String) {
    repository(owner: $owner, name: $name) { defaultBranchRef { target { ... on Commit {
      history(first: 100, since: $since, after: $endCursor) {
        pageInfo { hasNextPage endCursor }
        nodes {
          oid committedDate messageHeadline parents(first: 1) { nodes { oid } }
          status { contexts { context state description targetUrl } }
        } } } } } } }' | jq -rs --arg until "$3" '
  def clean: gsub("[\\p{Cc}\\p{Cf}]"; " ");
  def words: sub(" ?\\[[0-9]+ [^\\]]*\\]$"; "");
  def count(states): map(select(test("\\[[0-9]+ (" + states + ") [^\\]]*\\]$"))) | length;
  [.[].data.repository.defaultBranchRef.target.history.nodes[]] as $commits
  | ($commits | INDEX(.oid)) as $known
  | [$commits[0] // empty | recurse($known[.parents.nodes[0].oid // ""] // empty)] # the first parents
  | map(.runs = [.status.contexts[]? | select(.context | startswith("docs-on-merge/"))])
  | [foreach .[] as $merge (null; if $merge.runs != [] then $merge else . end; $merge + {push: .})]
  | map(select(.committedDate < $until)) as $merges
  | ($merges[] | . as $merge
      | if .runs != [] then .runs[] | [(.state | ascii_downcase), (.description | words), .targetUrl]
        elif .push then ["no run", "unless it was pushed with \(.push.oid[:7])", .push.runs[0].targetUrl]
        else ["no run", "", ""] end
      | [$merge.committedDate[:10], $merge.oid[:7]] + . + [$merge.messageHeadline]
      | map(. // "" | clean) | @tsv),
    ([$merges[].runs[].description] | count("running|done|failed") as $jobs | count("sending|unknown") as $unknown
      | "\($merges | length) merges, \($jobs) jobs, \($unknown) unknown: \($jobs * 112) to \(($jobs + $unknown) * 112) credits")'
