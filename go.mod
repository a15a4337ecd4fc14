module oomscan

go 1.26.0

require (
	github.com/dlclark/regexp2/v2 v2.12.0
	github.com/stretchr/testify v1.12.1
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
