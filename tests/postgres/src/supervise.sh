# Keeps one PostgreSQL server: supervise.sh DIRECTORY POSTGRES ARGUMENTS…
# Orders come on standard input, one a line; each is answered with a line. The end of the input, which comes when the process
# that started this ends for whatever reason, ends the server and removes the directory.
directory=$1
shift

start() {
  "$@" >>"$directory/log" 2>&1 </dev/null &
  server=$!
}

stop() {
  kill "-$1" "$server" 2>/dev/null
  wait "$server" 2>/dev/null
}

start "$@"
while read -r order; do
  case $order in
    start) start "$@" ;;
    fast) stop INT ;;
    immediate) stop QUIT ;;
  esac
  echo "$order"
done
stop QUIT
rm -rf -- "$directory"
