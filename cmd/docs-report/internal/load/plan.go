package load

import (
	"context"
	"fmt"
)

// Plan is what a run would do.
type Plan struct {
	Tasks    []Task // that are not up to date
	Requests int    // that they take
	AtLeast  bool   // Requests is a lower bound: the size of a site is not known yet
	Left     int    // requests left of the hour's budget
	Budget   int
}

func (p Plan) String() string {
	bound := ""
	if p.AtLeast {
		bound = " or more"
	}
	text := fmt.Sprintf("%d windows to load, %d requests%s; %d of the hour's budget of %d are left", len(p.Tasks), p.Requests, bound, p.Left, p.Budget)
	if beyond := p.Requests - p.Left; beyond > 0 {
		text += fmt.Sprintf(", so it takes %d runs an hour apart", 1+(beyond+p.Budget-1)/p.Budget)
	}
	return text + "."
}

// Plan returns what Load would do. It sends nothing.
func (l *Loader) Plan(ctx context.Context, tasks []Task) (Plan, error) {
	left, err := l.Store.Left(ctx, l.Budget)
	plan := Plan{Left: left, Budget: l.Budget}
	if err != nil {
		return plan, err
	}
	for _, task := range tasks {
		state, err := l.Store.State(ctx, task.Window)
		if err != nil {
			return plan, err
		}
		if l.hasAll(task, state) {
			continue
		}
		plan.Tasks = append(plan.Tasks, task)
		if task.TotalsOnly {
			plan.Requests++
			continue
		}
		pages, known, err := l.Store.Pages(ctx, task.Project)
		if err != nil {
			return plan, err
		}
		if state.Export != nil && l.isFresh(state.Export.At, task.Window) {
			pages -= state.Export.Offset
		}
		plan.AtLeast = plan.AtLeast || !known
		plan.Requests += max(1, (pages+pageSize-1)/pageSize)
	}
	return plan, nil
}
