// Package settle names the rule for a wait after a message, for mintlifytest.
package settle

import (
	"math"
	"time"
)

// AfterMessage is the settle time of a wait without WithSettleTime. It stands for a rule: until 30 s
// after a message, the earlier end of its job does not count. mintlifytest, which turns the rule
// off, turns it on again with WithSettleTime(AfterMessage).
const AfterMessage = time.Duration(math.MinInt64)
