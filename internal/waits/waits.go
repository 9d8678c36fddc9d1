// Package waits has the settings of a wait that other packages of this module read or change,
// and callers of the SDK cannot. Its functions are options of a wait:
//
//	client.Jobs.Poll(ctx, id, waited, waits.Silent)
package waits

import "time"

// Settings are a part of the SDK's own settings of a wait, which embed them.
type Settings struct {
	// SettleTime is for how long a wait ignores that what it polls has ended.
	SettleTime time.Duration
	// HasSettleTime says that SettleTime was given. Otherwise the rule for a wait after a message
	// holds.
	HasSettleTime bool
	// Instant says that the service is the fake of mintlifytest, where a message takes effect at
	// once.
	Instant bool
	// Silent says that no poll calls a hook.
	Silent bool
}

func (s *Settings) settings() *Settings { return s }

// config is a pointer to a struct that embeds Settings. The SDK's own has no exported name.
type config interface {
	settings() *Settings
}

// Silent calls none of the caller's hooks.
func Silent[C config](c C) error {
	c.settings().Silent = true
	return nil
}

// Instant makes an end count at once, also after a message. It is for mintlifytest.
func Instant[C config](c C) error {
	s := c.settings()
	s.SettleTime = 0
	s.HasSettleTime = true
	s.Instant = true
	return nil
}

// RealSettling takes an Instant or a settle time back: the rule for a wait after a message holds.
func RealSettling[C config](c C) error {
	s := c.settings()
	s.SettleTime = 0
	s.HasSettleTime = false
	s.Instant = false
	return nil
}

// Reveal ends the call before anything is sent. Its error is a [*Revealed].
func Reveal[C config](c C) error { return &Revealed{*c.settings()} }

// Revealed has the settings of the wait that an option of Reveal ended.
type Revealed struct {
	Settings
}

func (*Revealed) Error() string { return "these are the settings of the wait" }
