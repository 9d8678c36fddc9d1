package sqldb

import (
	"embed"
	"fmt"
)

// Schema is the versions of a program's tables. The file schema/2.sql makes version 2 of version 1,
// and so on. The files of a release do not change any more.
type Schema struct{ embed.FS }

// Version returns the newest version.
func (s Schema) Version() int64 {
	files, err := s.ReadDir("schema")
	if err != nil {
		panic(err) // they are embedded
	}
	return int64(len(files))
}

// Statements returns what makes a version of the version before.
func (s Schema) Statements(version int64) string {
	text, err := s.ReadFile(fmt.Sprintf("schema/%d.sql", version))
	if err != nil {
		panic(err) // they are embedded
	}
	return string(text)
}
