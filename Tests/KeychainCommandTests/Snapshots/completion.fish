# fish completion for keychainctl
function __keychainctl_candidates
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l lines (command keychainctl completion candidates -- $words[2..-1] "$word" 2>/dev/null </dev/null)
    if test "$lines[1]" = files
        __fish_complete_path "$word"
    else if set -q lines[2]
        printf '%s\n' $lines[2..-1]
    end
end
complete -c keychainctl -f -a '(__keychainctl_candidates)'
