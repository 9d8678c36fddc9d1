module github.com/mintlify-community/mintlify-go/examples/merge-service

go 1.26.0

replace github.com/mintlify-community/mintlify-go => ../..

require (
	github.com/google/go-github/v92 v92.0.0
	github.com/mintlify-community/mintlify-go v0.0.0
	github.com/stretchr/testify v1.12.1
	golang.org/x/sync v0.23.0
)

require (
	github.com/google/go-querystring v1.2.0 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)
