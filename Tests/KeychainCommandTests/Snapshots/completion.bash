# bash completion for keychainctl
_keychainctl() {
    # The words as the command will get them: bash's own are cut at colons and equals signs too.
    local line=${COMP_LINE:0:COMP_POINT} word='' quote='' begun='' character index
    local -a words=()
    for ((index = 0; index < ${#line}; index++)); do
        character=${line:index:1}
        if [[ $quote && $character == "$quote" ]]; then
            quote=''
        elif [[ $quote == "'" || ( $quote && $character != \\ ) ]]; then
            word+=$character
        elif [[ $character == \\ ]]; then
            index=$((index + 1)) word+=${line:index:1} begun=1
        elif [[ $character == [\'\"] ]]; then
            quote=$character begun=1
        elif [[ $character == [[:blank:]] ]]; then
            if [[ $begun ]]; then words+=("$word"); fi
            word='' begun=''
        else
            word+=$character begun=1
        fi
    done

    local kind='' candidate cut='' quoted
    COMPREPLY=()
    if [[ $COMP_WORDBREAKS == *:* && $word == *:* ]]; then cut=${word%"${word##*:}"}; fi
    if [[ $COMP_WORDBREAKS == *=* && ${word#"$cut"} == *=* ]]; then cut=${word%"${word##*=}"}; fi
    while IFS= read -r line; do
        if [[ ! $kind ]]; then
            kind=$line
            continue
        fi
        candidate=${line%%$'\t'*}
        if [[ $candidate == "$word"* ]]; then
            if [[ $candidate == *[:=] ]]; then compopt -o nospace; fi
            printf -v quoted %q "${candidate#"$cut"}"
            COMPREPLY+=("$quoted")
        fi
    done < <(command keychainctl completion candidates -- "${words[@]:1}" "$word" 2>/dev/null </dev/null)
    if [[ $kind == files ]]; then compopt -o default; fi
}
complete -F _keychainctl keychainctl
