// Command stringdates writes a description of the service that ogen can read: a date in a
// query, which is a day or an instant, becomes a string.
package main

import (
	"log"
	"os"
	"strings"
)

const (
	original = `      anyOf:
        - type: string
          format: date
        - type: string
          format: date-time
`
	derived = "      type: string\n"
)

func main() {
	from := os.Args[1]
	to := os.Args[2]
	document, err := os.ReadFile(from)
	if err != nil {
		log.Fatal(err)
	}

	if strings.Count(string(document), original) != 1 {
		log.Fatalf("%s describes a date in another way: change what stringdates replaces", from)
	}
	text := "# Derived from api/openapi.yaml by bench/cmd/stringdates. Do not edit.\n"
	text += strings.Replace(string(document), original, derived, 1)

	if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
}
