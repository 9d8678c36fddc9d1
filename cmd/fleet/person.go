package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	maxOfKind = 100
	maxKeys   = 20               // that a need names
	oldAfter  = 7 * database.Day // what failed or was refused before is nobody's work any more
)

// kinds has the kinds of needs in the order in which status prints them.
var kinds = []string{
	"database", "worker", "outage", "pause", "unknown", "stranded", "refused", "failed", "running", "result",
	"repository",
}

// causes has what a person may have to mend of a pause. All other needs have none.
var causes = []string{"", queue.CauseKey, queue.CauseProject, queue.CauseCredits}

// need is a reason why a person is needed. Status prints it, status -check fails with it, and the metrics count it.
type need struct {
	Kind    string    `json:"kind"`
	Cause   string    `json:"cause,omitempty"` // what a person has to mend of a pause: key, project or credits
	Project string    `json:"project"`         // "" is all
	Keys    []string  `json:"keys"`            // the first 20
	Since   time.Time `json:"since,omitzero"`
	Count   int       `json:"count"`            // prompts, or tries
	Others  int       `json:"others,omitempty"` // other prompts, or projects, with the same problem
	Problem string    `json:"problem,omitempty"`
	Advice  string    `json:"advice"`
}

// needsOf returns all reasons why a person is needed. A database that cannot be read is an error.
func needsOf(ctx context.Context, s queue.Queue, now status) ([]need, error) {
	ofPrompts, err := needsOfPrompts(ctx, s)
	if err != nil {
		return nil, err
	}

	needs := []need{}
	if err := s.CheckWrites(ctx); err != nil {
		needs = append(needs, need{
			Kind:    "database",
			Keys:    []string{},
			Problem: safetext.OneLine(err.Error(), 500),
			Advice:  "No row can be written: is its disk full, is it read-only, or is a table locked?",
		})
	}

	worker, err := needOfWorker(ctx, s, now.Projects)
	if err != nil {
		return nil, err
	}
	if !now.Working && !worker.Since.IsZero() {
		needs = append(needs, worker)
	}

	needs = append(needs, needsOfProjects(s, now.Projects)...)
	ofRepositories, err := needsOfRepositories(ctx, s)
	if err != nil {
		return nil, err
	}
	return slices.Concat(needs, ofPrompts, ofRepositories), nil
}

// needsOfRepositories returns the repositories of which merges are left out for the lack of a project.
func needsOfRepositories(ctx context.Context, s queue.Queue) ([]need, error) {
	undocumented, err := s.Undocumented(ctx)

	var needs []need
	for _, u := range undocumented[:min(len(undocumented), maxOfKind)] {
		needs = append(needs, need{
			Kind:    "repository",
			Keys:    []string{u.Repository},
			Since:   u.Since,
			Count:   u.Merges,
			Problem: fmt.Sprintf("no project documents it: merges that were left out: %d", u.Merges),
			Advice: fmt.Sprintf("Name its project: fleet serve -project %s=ID. Or leave it out: -project %s=. Then "+
				"have GitHub deliver its webhooks again, with the line in docs/fleet.md.", u.Repository, u.Repository),
		})
	}
	return needs, err
}

// needOfWorker is since the last sign of life: webhooks are lost, too. If no worker ever worked, it is since the oldest
// prompt that is queued.
func needOfWorker(ctx context.Context, s queue.Queue, projects []*queue.ProjectStatus) (need, error) {
	n := need{
		Kind:    "worker",
		Keys:    []string{},
		Problem: queue.WithoutWorker,
		Advice:  "Nothing is sent, and no webhook taken, until fleet work or fleet serve is running.",
	}
	lastSeen, err := s.LastWorked(ctx)

	for _, p := range projects {
		n.Count += p.Counts["queued"]
		if n.Since.IsZero() || !p.Oldest.IsZero() && p.Oldest.Before(n.Since) {
			n.Since = p.Oldest
		}
	}
	if !lastSeen.IsZero() {
		n.Since = lastSeen
	}
	return n, err
}

// needsOfProjects returns the projects of which prompts wait for nothing but a person, or the end of an outage. An
// outage of all is one need.
func needsOfProjects(s queue.Queue, projects []*queue.ProjectStatus) []need {
	isOfAll := false
	isReady := func(p *queue.ProjectStatus) bool { return p.Ready > 0 && p.Queue.Stopped.IsZero() }
	anyReady := slices.ContainsFunc(projects, isReady)

	var needs []need
	for _, p := range projects {
		kind := s.Trouble(p.Queue)
		isAll := p.Project == ""
		switch {
		case isAll && !p.Queue.Stopped.IsZero():
			return nil
		case kind == "" || isAll && !anyReady || !isAll && !isReady(p) || isOfAll && kind == "outage":
			continue
		}

		isOfAll = isOfAll || isAll
		needs = addNeed(needs, need{
			Kind:    kind,
			Cause:   causeOf(kind, p.Queue),
			Project: p.Project,
			Keys:    []string{},
			Since:   p.Queue.Began,
			Count:   p.Queue.Tries,
			Problem: p.Queue.Reason,
			Advice:  adviseOnProject(kind, p.Queue),
		})
	}
	return needs
}

func causeOf(kind string, p queue.Project) string {
	if kind == "pause" {
		return p.Cause
	}
	return ""
}

// resumeOf is the command that resumes a project, or all for "".
func resumeOf(project string) string {
	if project == "" {
		return "fleet resume -all"
	}
	return "fleet resume -project " + safetext.OneLine(project, 100)
}

func adviseOnProject(kind string, p queue.Project) string {
	tried := fmt.Sprintf("Failures since %s: %d.", utc(p.Began), p.Tries)
	switch {
	case p.IsAlien:
		return tried + " Something else than the service responds, such as a login page of the network: mend that. " +
			"Fleet goes on by itself."
	case kind == "outage":
		return tried + " Fleet goes on by itself once the service works. Nobody is needed if its machines reach it."
	}

	mend := p.Cause
	if p.Cause == queue.CauseKey {
		mend += " (new ones are made at " + usage.KeysPage + ") and restart each process that has the old one"
	}
	return tried + " Mend the " + mend + ", then: " + resumeOf(p.Name) + "."
}

// needsOfPrompts returns the prompts that need a person, of each kind the newest first.
func needsOfPrompts(ctx context.Context, s queue.Queue) ([]need, error) {
	ago := func(d time.Duration) any { return time.Now().Add(-d).UnixNano() }
	ended := "forgotten = 0 AND updated >= $1"

	conditions := []struct {
		kind, where string
		args        []any
	}{
		{"unknown", "state = 'unknown'", nil},
		{"stranded", "state = 'pending' AND " + database.IsStranded, nil},
		{"refused", "state = 'refused' AND " + ended, []any{ago(oldAfter)}},
		{"failed", "state = 'failed' AND " + ended, []any{ago(oldAfter)}},
		{
			"running",
			"state IN ('sending', 'running') AND (problem <> '' OR state = 'running' AND updated < $1)",
			[]any{ago(database.Day)},
		},
		{"result", queue.ToldInVain, []any{ago(time.Hour), ago(oldAfter)}},
	}

	var needs []need
	for _, c := range conditions {
		order := fmt.Sprintf(" ORDER BY updated DESC LIMIT %d", 10*maxOfKind)
		rows, err := s.Rows(ctx, c.where+order, c.args...)
		if err != nil {
			return nil, err
		}

		var ofKind []need
		for _, r := range rows {
			ofKind = addNeed(ofKind, needOf(c.kind, r))
		}
		ofKind = ofKind[:min(len(ofKind), maxOfKind)]
		if c.kind == "running" {
			err = nameMachines(ctx, s, ofKind)
		}
		if err != nil {
			return nil, err
		}
		needs = append(needs, ofKind...)
	}
	return needs, nil
}

// nameMachines adds to each problem the machine that met it, since machines may have different keys. It takes the
// machine from the history of the first prompt, and adds nothing if the history does not tell.
func nameMachines(ctx context.Context, s queue.Queue, needs []need) error {
	for i, n := range needs {
		if n.Problem == "" {
			continue
		}

		who, err := sqldb.Strings(ctx, s.DB, `SELECT who FROM fleet_history
WHERE key = $1 AND problem <> '' ORDER BY at DESC, version DESC LIMIT 1`, n.Keys[0])
		if err != nil {
			return err
		}
		if len(who) > 0 {
			needs[i].Problem = "on " + safetext.OneLine(who[0], 100) + ": " + n.Problem
		}
	}
	return nil
}

func needOf(kind string, r database.Row) need {
	n := need{
		Kind:    kind,
		Project: r.ProjectID,
		Keys:    []string{r.Key},
		Since:   r.UpdatedAt,
		Count:   1,
		Problem: strings.ReplaceAll(safetext.OneLine(r.Problem, 1000), cmp.Or(r.JobID, "\n"), "ID"),
		Advice:  advise(r),
	}

	if kind == "result" {
		n.Problem = strings.TrimSuffix("its result could not be told: "+safetext.OneLine(r.Refusal, 500), ": ")
		n.Advice = "Is FLEET_RESULTS_URL or FLEET_GITHUB_TOKEN still valid? The log says what failed. " +
			"To tell nobody: fleet close -key " + r.Key + "."
	}
	return n
}

// addNeed adds a need. Those of running jobs, results, pauses and refused prompts with the same problem are one. An
// error of the service names the project and the job that were asked for, so that those are left out of what is
// compared.
func addNeed(needs []need, n need) []need {
	problemOfAny := func(n need) string { return strings.ReplaceAll(n.Problem, cmp.Or(n.Project, "\n"), "P") }
	isAlike := func(other need) bool {
		isOfSame := n.Kind == "pause" || n.Kind == "outage" || n.Project == other.Project
		return isOfSame && n.Kind == other.Kind && problemOfAny(n) == problemOfAny(other)
	}

	isGrouped := slices.Contains([]string{"running", "result", "pause", "outage", "refused"}, n.Kind) && n.Problem != ""
	i := slices.IndexFunc(needs, isAlike)
	if !isGrouped || i < 0 {
		return append(needs, n)
	}

	needs[i].Count += n.Count
	needs[i].Others++
	needs[i].Advice = strings.ReplaceAll(needs[i].Advice, resumeOf(needs[i].Project), "fleet resume -all")
	if n.Kind == "refused" {
		needs[i].Advice = fmt.Sprintf("To send all that were refused again: fleet retry -state refused -project %s "+
			"-again -yes. To leave one: fleet close -key KEY.", safetext.OneLine(n.Project, 100))
	}
	if len(needs[i].Keys) < maxKeys {
		needs[i].Keys = append(needs[i].Keys, n.Keys...)
	}

	if n.Since.Before(needs[i].Since) {
		needs[i].Since = n.Since
	}
	return needs
}

// advise says what a person can do. It returns "" if the prompt needs nobody.
func advise(r database.Row) string {
	switch {
	case !r.Forgotten.IsZero():
		return ""
	case r.IsStranded:
		return fmt.Sprintf("It waits for the job of %s, which has none: see fleet show %s. "+
			"To drop it: fleet cancel -key %s.", r.After, r.After, r.Key)
	}

	switch r.State {
	case once.Unknown:
		return adviseUnknown(r)
	case once.Failed, once.Refused:
		return adviseEnded(r)
	case once.Sending, once.Running:
		return adviseRunning(r)
	}
	return ""
}

// sendingAgain and following are the commands that retry a prompt. An id comes after following.
func sendingAgain(r database.Row) string { return "fleet retry -key " + r.Key + " -again" }

func following(r database.Row) string { return "fleet retry -key " + r.Key + " -job " }

func adviseUnknown(r database.Row) string {
	sent := utc(sentAbout(r))
	if r.After != "" {
		return fmt.Sprintf("A message to the job of %s, sent at about %s. Look whether the pull request has "+
			"the change. If it has: %sID, with the job of fleet show %s. If not: %s -yes.",
			r.After, sent, following(r), r.After, sendingAgain(r))
	}

	wait := ""
	if until := sentAbout(r).Add(queue.OpensWithin); time.Now().Before(until) {
		wait = " Wait until " + utc(until) + ": a job may take 25 minutes to open its pull request."
	}
	return fmt.Sprintf("Sent at about %s.%s Look for %q in the pull requests of the documentation, and in the "+
		"dashboard under Settings, Organization, Usage. If there is a job: %sID. If there is only a pull request: "+
		"fleet close -key %s -pr URL. If there is none: %s. %s",
		sent, wait, once.Marker(r.Key), following(r), r.Key, sendingAgain(r), sayLooks(r))
}

// sayLooks says who has looked for the pull request of an unknown prompt, and when the next look is.
func sayLooks(r database.Row) string {
	now := time.Now()
	next := " The next look is at about " + utc(queue.NextLook(r, now)) + "."
	switch {
	case now.Sub(r.UpdatedAt) > oldAfter:
		next = " Fleet looks no more."
	case r.Looked.Before(r.Deadline): // or for an earlier send
		return "Nobody has looked on GitHub yet." + next + " Only a worker with FLEET_GITHUB_TOKEN looks there; " +
			"without, fleet takes only what a webhook of the documentation names."
	}
	return "Fleet looks on GitHub for the pull request, too, for 7 days, last tried at " + utc(r.Looked) + "." + next
}

func adviseEnded(r database.Row) string {
	if r.State == once.Failed && r.JobID != "" {
		return fmt.Sprintf("To send it again: %s. To wait for its job again: %s%s. To leave it: fleet close -key %s.",
			sendingAgain(r), following(r), safetext.OneLine(r.JobID, 200), r.Key)
	}
	return fmt.Sprintf("To send it again: %s. To leave it: fleet close -key %s.", sendingAgain(r), r.Key)
}

func adviseRunning(r database.Row) string {
	switch {
	case r.IsOverdue():
		return fmt.Sprintf("Job %s runs since %s. Look at it in the dashboard. To end it here: fleet close -key %s. "+
			"To follow another: %sID.",
			safetext.OneLine(r.JobID, 200), utc(r.UpdatedAt), r.Key, following(r))
	case r.Problem != "":
		return fmt.Sprintf("Once the problem is mended: %s. "+
			"To end it here: fleet close -key %s. If the job id is wrong: %sID.",
			resumeOf(r.ProjectID), r.Key, following(r))
	}
	return ""
}
