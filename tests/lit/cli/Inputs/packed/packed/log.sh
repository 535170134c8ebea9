# Notes each question, and declines.
tr -d '\n ' < request.json | sed 's/.*"callee":"\([^"]*\)".*"input":\([0-9]*\).*/\1 \2/' >> "$1/log"
echo " $(head -c 128 input.npy | tr -cd '[:print:]' | sed 's/.*descr.: .\([^,]*\)., .*shape.: (\(.*\)),* }.*/\1 \2/')" >> "$1/log"
