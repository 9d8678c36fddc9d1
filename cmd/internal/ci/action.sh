# Runs the program of an action: downloads and verifies its release, or builds it. The action's script
# has set name, outcome (the output with how the step ended), flags (inputs that are flags of the same name), lists (flags with the
# input that has one value a line, such as path=paths) and args (the other arguments).
# shellcheck shell=bash disable=SC2154

version=0.1.0 # the release that the actions download

for flag in $flags; do
  variable=INPUT_$(tr a-z- A-Z_ <<<"$flag")
  if [ -n "${!variable-}" ]; then args+=("-$flag=${!variable}"); fi
done

for list in ${lists-}; do
  variable=INPUT_$(tr a-z- A-Z_ <<<"${list#*=}")
  while read -r value; do # without the blanks at its ends
    if [ -n "$value" ]; then args+=("-${list%%=*}=$value"); fi
  done < <(tr '\r' '\n' <<<"${!variable-}") # a variable may have the line breaks of Windows
done

# unreachable ends the step if the release cannot be downloaded: nothing was started, and a later run may work.
unreachable() {
  text="$1. Nothing was started: run again later" kind=error code=5
  if [ "${INPUT_SOFT-}" = true ]; then kind=warning code=0; fi
  echo "::$kind title=$name::$text"
  if [ -n "${GITHUB_OUTPUT-}" ]; then echo "$outcome=not-started" >>"$GITHUB_OUTPUT"; fi
  if [ -n "${GITHUB_STEP_SUMMARY-}" ]; then printf '### %s: not-started\n\n    %s\n' "$name" "$text" >>"$GITHUB_STEP_SUMMARY"; fi
  if [ "$(type -t note)" = function ]; then note || echo "The commit's status does not say so."; fi
  exit $code
}
fail() { echo "::error title=$name::$1"; exit 2; }

dir=$(mktemp -d "$RUNNER_TEMP/$name.XXXXXX")
if [ "${INPUT_BUILD-}" = true ]; then
  GOFLAGS=-buildvcs=false GOWORK=off go -C "$GITHUB_ACTION_PATH" build -o "$dir/$name" . || fail "go build failed"
  exec "$dir/$name" "${args[@]}" # replaces bash, since a runner that cancels sends its signal only to bash
fi

case $RUNNER_OS in Linux) os=linux ;; macOS) os=darwin ;; Windows) os=windows ;; *) os= ;; esac
case $RUNNER_ARCH in X64) arch=amd64 ;; ARM64) arch=arm64 ;; *) arch= ;; esac
if [ -z "$os" ] || [ -z "$arch" ]; then fail "no release for $RUNNER_OS on $RUNNER_ARCH: set up Go and give build: true"; fi

archive=${name}_${version}_${os}_${arch}.tar.gz
if [ "$os" = windows ]; then archive=${archive%.tar.gz}.zip; fi
url=${MINTLIFY_GO_RELEASES:-https://github.com/mintlify-community/mintlify-go/releases/download}/v$version
pushd "$dir" >/dev/null
for file in checksums.txt "$archive"; do
  curl -fsSL --retry 3 --connect-timeout 20 --max-time 300 -o "$file" "$url/$file" || unreachable "$url/$file cannot be downloaded"
done

want=$(awk -v file="$archive" '$2 == file || $2 == "*" file { print $1 }' checksums.txt)
if command -v sha256sum >/dev/null; then got=$(sha256sum <"$archive"); else got=$(shasum -a 256 <"$archive"); fi
if [ -z "$want" ] || [ "$want" != "${got%% *}" ]; then fail "the sha256 of $archive is ${got%% *}, and checksums.txt says '$want'"; fi

if [ "$os" = windows ]; then unzip -q "$archive"; else tar -xzf "$archive"; fi
popd >/dev/null
exec "$dir/$name" "${args[@]}" # replaces bash, since a runner that cancels sends its signal only to bash
