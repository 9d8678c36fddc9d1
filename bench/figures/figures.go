// Package figures is how the programs of this module tell each other what they
// have measured, and what is made of it.
package figures

import (
	"encoding/json"
	"io"
	"slices"
)

// Figure is one number of one run.
type Figure struct {
	Row    string  `json:"row"`
	Column string  `json:"column"`
	Value  float64 `json:"value"`
}

// Write writes f as a line.
func (f Figure) Write(w io.Writer) error { return json.NewEncoder(w).Encode(f) }

// Set is all numbers of all runs.
type Set map[string]map[string][]float64 // by row and column

// Add takes a figure in.
func (s Set) Add(f Figure) {
	if s[f.Row] == nil {
		s[f.Row] = map[string][]float64{}
	}
	s[f.Row][f.Column] = append(s[f.Row][f.Column], f.Value)
}

// Read takes in all lines that were written.
func (s Set) Read(r io.Reader) error {
	decoder := json.NewDecoder(r)
	for {
		var f Figure
		switch err := decoder.Decode(&f); err {
		case nil:
			s.Add(f)
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}

// Median is the middle of the runs; ok is false if there was none.
func (s Set) Median(row, column string) (median float64, ok bool) {
	return Median(s[row][column])
}

// Ratios is what one figure is of another, run by run.
func (s Set) Ratios(row, column, baseRow, baseColumn string) (ratios []float64) {
	for i, value := range s[row][column] {
		if bases := s[baseRow][baseColumn]; i < len(bases) && bases[i] != 0 {
			ratios = append(ratios, value/bases[i])
		}
	}
	return ratios
}

// Median is the middle of values.
func Median(values []float64) (median float64, ok bool) {
	if len(values) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2, true
	}
	return sorted[middle], true
}
