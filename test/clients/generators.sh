#!/usr/bin/env bash
# generators.sh DOCUMENT FOLDER [calls] generates clients of an OpenAPI document with oapi-codegen, ogen, openapi-typescript,
# orval, hey-api and openapi-generator in their pinned versions, and compiles each of them in FOLDER. With calls, the document is that
# of the code graph, and the programs that call it are compiled too. Run it from the repository's root. Without java it
# leaves out openapi-generator, and without mvn its client in Java.
set -euo pipefail
document=$(realpath "$1")
mkdir -p "$2"
work=$(realpath "$2")
calls=${3:-}
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

# project FOLDER PACKAGES makes a project in TypeScript with the files of a folder of $here, and the packages of another.
project() {
  rm -rf "${work:?}/$1"
  mkdir "$work/$1"
  cd "$work/$1"
  cp "$here/$1"/tsconfig.json .
  cp "$here/$2"/package.json .
  if [ -f "$here/$1/orval.config.cjs" ]; then cp "$here/$1/orval.config.cjs" .; fi
  if [ -n "$calls" ]; then cp "$here/$1/call.ts" .; fi
  ln -sfn "$here/$2/node_modules" node_modules
}
project orval orval
DOCUMENT=$document npx orval --config orval.config.cjs > orval.log 2>&1 || { cat orval.log; exit 1; }
npx tsc
echo "== TypeScript: orval generates a client that compiles"
project heyapi heyapi
node_modules/.bin/node node_modules/.bin/openapi-ts -i "$document" -o client > hey-api.log 2>&1 || { cat hey-api.log; exit 1; }
npx tsc
echo "== TypeScript: hey-api generates a client that compiles"

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
project fetch typescript
openapi_generator typescript-fetch client --additional-properties importFileExtension=.js
npx tsc
echo "== TypeScript: openapi-generator generates a client that compiles"

if ! command -v mvn > /dev/null 2>&1 || ! command -v javac > /dev/null 2>&1; then
  echo "no mvn or no javac: the client of openapi-generator in Java is left out"
  exit 0
fi
cd "$work"
openapi_generator java java --additional-properties library=native
cp "$here/java/Main.java" java/
javac -proc:none -nowarn -cp "$here/java/lib/*" -d java/out $(if [ -n "$calls" ]; then echo java/Main.java; fi) $(find java/src/main/java -name '*.java') > javac.log 2>&1 ||
  { cat javac.log; exit 1; }
echo "== Java: openapi-generator generates a client that compiles"
