package sqldb

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"regexp"
	"strings"
)

// Address says where a database is. Print none: it may have a password.
type Address struct {
	// File is SQLite's, or "".
	File string
	// Postgres is a URL, or libpq's form such as "host=db dbname=docs", or "".
	Postgres string
}

// postgresForm matches the start of a URL, or of libpq's form.
var postgresForm = regexp.MustCompile(`^(postgres(ql)?://|\s*[a-z_]+\s*=)`)

// ParseAddress reads sqlite:FILE, and the forms of Postgres. Its errors do not show the text.
func ParseAddress(text string) (Address, error) {
	if text == "" {
		return Address{}, errors.New("is not set: it names the database")
	}
	if postgresForm.MatchString(text) {
		return Address{Postgres: text}, nil
	}

	file, isFile := strings.CutPrefix(text, "sqlite:")
	if !isFile {
		return Address{}, errors.New("has an unknown form")
	}

	isHost := strings.HasPrefix(file, "//") && !strings.HasPrefix(file, "///")
	if file == "" || file == ":memory:" || isHost {
		return Address{}, errors.New("names no file")
	}
	return Address{File: file}, nil
}

// IsSQLite reports whether the database is a file of SQLite.
func (a Address) IsSQLite() bool { return a.File != "" }

// SQLite returns the file and options as SQLite's driver wants them.
func (a Address) SQLite(options url.Values) string {
	name := url.URL{Scheme: "file", Opaque: url.PathEscape(a.File), RawQuery: options.Encode()}
	return name.String()
}

// MakeFile makes the file of a new database, which only its owner may read: SQLite would make it
// with the mode of any other file. The mode of an existing one stays.
func (a Address) MakeFile() error {
	made, err := os.OpenFile(a.File, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return made.Close()
}
