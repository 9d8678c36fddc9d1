package report

import "math"

// A difference is said and coloured only if it is more than chance, and large enough to matter.
const (
	mostByChance = 2.0  // standard errors
	leastOfCount = 0.05 // of the count before
	leastOfShare = 0.02 // 2 percentage points
	leastOnASide = 10   // votes, searches or questions, to compare shares
	wilsonZ      = 1.64 // 95 % on one side
)

// verdict says how a number differs from the one before.
type verdict int

const (
	aboutTheSame verdict = iota
	more
	less
)

// compareCounts compares two counts of independent events: the standard error of their difference
// is about √(a+b).
func compareCounts(now, before int64) verdict {
	difference := float64(now) - float64(before)
	chance := mostByChance * math.Sqrt(float64(now)+float64(before))

	isChance := math.Abs(difference) <= chance
	isSmall := math.Abs(difference) < leastOfCount*float64(before)
	return verdictOf(difference, isChance || isSmall)
}

// part is how many of all are something, such as thumbs that point down.
type part struct{ some, all int64 }

func (p part) share() float64 {
	if p.all <= 0 {
		return 0
	}
	return float64(p.some) / float64(p.all)
}

func (p part) plus(other part) part { return part{p.some + other.some, p.all + other.all} }

// compareShares compares two shares with the pooled standard error.
func compareShares(now, before part) verdict {
	if now.all < leastOnASide || before.all < leastOnASide {
		return aboutTheSame
	}

	pooled := now.plus(before).share()
	chance := mostByChance * math.Sqrt(pooled*(1-pooled)*(1/float64(now.all)+1/float64(before.all)))
	difference := now.share() - before.share()

	isChance := math.Abs(difference) <= chance
	isSmall := math.Abs(difference) < leastOfShare-1e-9 // 0.22 - 0.20 is a little less than 0.02
	return verdictOf(difference, isChance || isSmall)
}

func verdictOf(difference float64, isNone bool) verdict {
	switch {
	case isNone || difference == 0:
		return aboutTheSame
	case difference > 0:
		return more
	}
	return less
}

// atLeast returns the lower bound of Wilson's interval for a share: few votes prove little, so
// 1 of 1 is less than 60 of 100.
func (p part) atLeast() float64 {
	if p.all <= 0 || p.some <= 0 {
		return 0
	}

	const z = wilsonZ
	n := float64(p.all)
	share := p.share()
	middle := share + z*z/(2*n)
	spread := z * math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	return max(0, (middle-spread)/(1+z*z/n))
}

type perWeek struct{ count, weeks int64 }

func (p perWeek) mean() float64 { return float64(p.count) / float64(max(p.weeks, 1)) }

// compareMeans compares two counts that are of a different number of weeks.
func compareMeans(now, before perWeek) verdict {
	if now.weeks == 0 || before.weeks == 0 {
		return aboutTheSame
	}

	// Pooled, because a week without any says little: it may be one of few.
	pooled := float64(now.count+before.count) / float64(now.weeks+before.weeks)
	difference := now.mean() - before.mean()
	chance := mostByChance * math.Sqrt(pooled*(1/float64(now.weeks)+1/float64(before.weeks)))

	isChance := math.Abs(difference) <= chance
	isSmall := math.Abs(difference) < leastOfCount*before.mean()
	return verdictOf(difference, isChance || isSmall)
}
