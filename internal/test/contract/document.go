// Package contract holds the SDK and its fake service to the document of the API,
// api/openapi.yaml, and to recordings of the service itself. In its tests a proxy between the two
// notes whatever the document does not allow. This is a module of its own so that the SDK's module
// does not link a validator.
package contract

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

// Document is the path of the OpenAPI document, seen from this folder.
const Document = "../../../api/openapi.yaml"

// LoadDocument checks the document and returns it. Its objects refuse fields that they do not
// name.
func LoadDocument() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromFile(Document)
	if err != nil {
		return nil, err
	}

	if err := doc.Validate(context.Background(), openapi3.EnableExamplesValidation()); err != nil {
		return nil, err
	}
	return doc, closeObjects(doc)
}

// closeObjects has every object of the document refuse fields that it does not
// name. The document leaves them open for the service's additions, but a field
// that the SDK or the fake adds is a misspelt one.
func closeObjects(doc *openapi3.T) error {
	closed := false
	return doc.WalkSchemas(func(_ string, schema *openapi3.SchemaRef) error {
		if schema.Value.Type.Is(openapi3.TypeObject) {
			schema.Value.AdditionalProperties = openapi3.BoolSchema{Has: &closed}
		}
		return nil
	})
}

// Formats checks the formats of texts. The library's own checks are looser, or missing.
func Formats() openapi3.SchemaValidationOption {
	return openapi3.WithStringFormatValidators(map[string]openapi3.StringFormatValidator{
		"date":      openapi3.NewCallbackValidator(checkTime(time.DateOnly)),
		"date-time": openapi3.NewCallbackValidator(checkTime(time.RFC3339)),
		"uri":       openapi3.NewCallbackValidator(checkURI),
	})
}

func checkTime(layout string) func(string) error {
	return func(text string) error {
		_, err := time.Parse(layout, text)
		return err
	}
}

func checkURI(text string) error {
	uri, err := url.Parse(text)
	if err == nil && !uri.IsAbs() {
		err = errors.New("is not absolute")
	}
	return err
}
