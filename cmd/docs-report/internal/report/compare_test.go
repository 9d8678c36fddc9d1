package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCompareCounts(t *testing.T) {
	for name, tc := range map[string]struct {
		now, before int64
		want        verdict
	}{
		"the same":                       {100, 100, aboutTheSame},
		"nothing":                        {0, 0, aboutTheSame},
		"two standard errors exactly":    {12, 4, aboutTheSame}, // 2·√16 = 8
		"beyond two standard errors":     {13, 4, more},
		"less":                           {4, 13, less},
		"three of none":                  {3, 0, aboutTheSame}, // 2·√3 > 3
		"five of none":                   {5, 0, more},
		"more than chance, but small":    {1_049_000, 1_000_000, aboutTheSame},
		"more than chance, 5 %":          {1_050_000, 1_000_000, more},
		"larger than 5 %, but by chance": {106, 100, aboutTheSame},
	} {
		t.Run(name, func(t *testing.T) {
			now := rateOf{float64(tc.now), 28}
			before := rateOf{float64(tc.before), 28}
			assert.Equal(t, tc.want, compareRates(now, before, mostByChance, leastOfCount))
		})
	}
}

func TestCompareShares(t *testing.T) {
	for name, tc := range map[string]struct {
		now, before part
		want        verdict
	}{
		"half from a fifth":            {part{50, 100}, part{20, 100}, more},
		"a fifth from half":            {part{20, 100}, part{50, 100}, less},
		"3 of 9 says nothing":          {part{9, 9}, part{0, 100}, aboutTheSame},
		"nor does it before":           {part{100, 100}, part{0, 9}, aboutTheSame},
		"10 on each side":              {part{10, 10}, part{0, 10}, more},
		"chance":                       {part{12, 20}, part{9, 20}, aboutTheSame},
		"less than 2 points":           {part{21_900, 100_000}, part{20_000, 100_000}, aboutTheSame},
		"2 points":                     {part{22_000, 100_000}, part{20_000, 100_000}, more},
		"none of none":                 {part{}, part{}, aboutTheSame},
		"all of all, on both sides":    {part{50, 50}, part{50, 50}, aboutTheSame},
		"beyond two standard errors":   {part{31, 50}, part{20, 50}, more},         // 0.22 > 0.19995
		"within two standard errors":   {part{30, 50}, part{20, 50}, aboutTheSame}, // 0.2 = 0.2
		"the larger side is no excuse": {part{3, 10}, part{1_000, 10_000}, more},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, compareShares(tc.now, tc.before, mostByChance)) })
	}
}

// Few votes prove little.
func TestAtLeast(t *testing.T) {
	assert.InDelta(t, 0.271, part{1, 1}.atLeast(), 0.001)
	assert.InDelta(t, 0.518, part{60, 100}.atLeast(), 0.001)
	assert.InDelta(t, 0.788, part{10, 10}.atLeast(), 0.001)
	assert.Greater(t, part{60, 100}.atLeast(), part{1, 1}.atLeast())
	assert.Greater(t, part{600, 1000}.atLeast(), part{60, 100}.atLeast())
	assert.Zero(t, part{0, 100}.atLeast())
	assert.Zero(t, part{}.atLeast())
}

// Weeks of different numbers compare by their means.
func TestCompareMeans(t *testing.T) {
	assert.Equal(t, more, compareRates(rateOf{60, 1}, rateOf{120, 4}, mostByChance, leastOfCount))
	assert.Equal(t, less, compareRates(rateOf{120, 4}, rateOf{60, 1}, mostByChance, leastOfCount))
	assert.Equal(t, aboutTheSame, compareRates(rateOf{0, 1}, rateOf{6, 4}, mostByChance, leastOfCount), "one week without any proves nothing")
	assert.Equal(t, aboutTheSame, compareRates(rateOf{50, 0}, rateOf{6, 4}, mostByChance, leastOfCount), "nothing is known")
}
