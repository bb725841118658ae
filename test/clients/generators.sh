#!/usr/bin/env bash
# generators.sh DOCUMENT FOLDER generates clients of an OpenAPI document with oapi-codegen, ogen, orval and openapi-generator
# in their pinned versions, and compiles each of them in FOLDER. Run it from the repository's root. Without java it leaves out
# openapi-generator.
set -euo pipefail
document=$(realpath "$1")
mkdir -p "$2"
work=$(realpath "$2")
here=$(pwd)/test/clients
OAPI_CODEGEN=github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2
OGEN=github.com/ogen-go/ogen/cmd/ogen@v1.25.0

export GOWORK=off GOFLAGS=-mod=mod
cd "$work"
[ -f go.mod ] || go mod init example.com/clients 2> /dev/null
mkdir -p oapi
go run "$OAPI_CODEGEN" -generate types,client -package oapi -o oapi/client.go "$document"
go run "$OGEN" --target ogen --package ogen --clean "$document" > ogen.log 2>&1 || { cat ogen.log; exit 1; }
go get github.com/ogen-go/ogen@"${OGEN##*@}" 2> /dev/null
go mod tidy 2> /dev/null
go build ./...
echo "== Go: oapi-codegen and ogen generate clients that compile"

mkdir -p orval
cp "$here"/orval/*.json "$here"/orval/*.cjs orval/
ln -sfn "$here/orval/node_modules" orval/node_modules
cd orval
DOCUMENT=$document npx orval --config orval.config.cjs > orval.log 2>&1 || { cat orval.log; exit 1; }
npx tsc
echo "== orval: generates a client that compiles"

if ! command -v java > /dev/null 2>&1; then
  echo "no java: the clients of openapi-generator are left out"
  exit 0
fi
cd "$work"
openapi_generator() { # LANGUAGE FOLDER OPTION...
  rm -rf "$2"
  "$here/python/.venv/bin/openapi-generator-cli" generate -i "$document" -g "$1" -o "$2" \
    --global-property apiTests=false,modelTests=false,apiDocs=false,modelDocs=false "${@:3}" > openapi-generator.log 2>&1 ||
    { cat openapi-generator.log; exit 1; }
}
openapi_generator go openapi --additional-properties withGoMod=false # the client is a package of the module of this folder
go mod tidy 2> /dev/null
go build ./...
openapi_generator python python
"$here/python/.venv/bin/python" -m compileall -q python/openapi_client
(cd python && "$here/python/.venv/bin/mypy" openapi_client > mypy.log) || { cat python/mypy.log; exit 1; }
echo "== Go and Python: openapi-generator generates clients that compile"
