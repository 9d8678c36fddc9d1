module github.com/mintlify-community/mintlify-go/internal/test/load

go 1.25

replace github.com/mintlify-community/mintlify-go => ../../..

require (
	github.com/mintlify-community/mintlify-go v0.0.0-00010101000000-000000000000
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
)

require (
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)
