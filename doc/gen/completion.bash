
# _fragmend_words LIST: those that begin as the word at the cursor does, each once
_fragmend_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$_fragmend_at" | sort -u); }

_fragmend_files() {
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$_fragmend_at")
}

# _fragmend_options_of FROM [NOT...]: fragmend's own options, where those given stand behind COMP_WORDS[FROM]
_fragmend_options_of() {
	local last=${COMP_WORDS[COMP_CWORD - 1]} from=$1 word list=$_fragmend_options
	shift
	# bash makes words of their own of `=`, and of what stands before and behind it.
	if [[ $_fragmend_at == = ]]; then
		_fragmend_at=
	elif [[ $last == = ]]; then
		last=${COMP_WORDS[COMP_CWORD - 2]}
		[[ $last == --* ]] || last=${COMP_WORDS[COMP_CWORD - 3]}
	elif [[ $_fragmend_by_port == *" $last "* ]]; then
		return
	fi
	if [[ $_fragmend_with_file == *" $last "* ]]; then
		_fragmend_files
		return
	elif [[ -n ${_fragmend_values[$last]-} ]]; then
		_fragmend_words "${_fragmend_values[$last]//|/ }"
		return
	elif [[ $_fragmend_with_value == *" $last "* ]]; then
		return
	fi
	for word in "$@" "${COMP_WORDS[@]:from + 1:COMP_CWORD - from - 1}"; do
		[[ $word == --?* && $_fragmend_by_port != *" $word "* || " $* " == *" $word "* ]] && list=${list/ $word / }
	done
	_fragmend_words "$list"
}

# _fragmend_command WORD...: a console command; the last word is the one at the cursor
_fragmend_command() {
	local syntax slots i n=$# word list=
	for syntax in "${_fragmend_commands[@]}"; do
		read -ra slots <<<"$syntax"
		((n <= ${#slots[@]})) || continue
		for ((i = 1; i < n; i++)); do
			[[ ${slots[i - 1]} == *[A-Z]* || "|${slots[i - 1]}|" == *"|${!i}|"* ]] || continue 2
		done
		for word in ${slots[n - 1]//|/ }; do
			case $word in
			FILE) _fragmend_files; return ;;
			TOPIC) list+=" $_fragmend_topics" ;;
			*[A-Z]*) ;;
			*) list+=" $word" ;;
			esac
		done
	done
	_fragmend_words "$list"
}

_fragmend() {
	local i _fragmend_at=${COMP_WORDS[COMP_CWORD]}
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			_fragmend_options_of "$i"
			return
		fi
	done
	_fragmend_words '-- -l --lcores -a --allow -b --block --vdev -m --socket-mem --in-memory --no-huge --no-pci
		--no-shconf --no-telemetry --file-prefix --log-level --help --version'
}

_fragmend_pcap() {
	local _fragmend_at=${COMP_WORDS[COMP_CWORD]}
	COMPREPLY=()
	if ((COMP_CWORD == 1)) && [[ $_fragmend_at == -* ]]; then
		_fragmend_words --help
	elif ((COMP_CWORD <= 2)); then
		_fragmend_files
	else
		_fragmend_options_of 2 --write --port-topology
	fi
}

_fragmend_cli() {
	local i=1 _fragmend_at=${COMP_WORDS[COMP_CWORD]}
	COMPREPLY=()
	while ((i < COMP_CWORD)) && [[ ${COMP_WORDS[i]} == -* ]]; do
		if [[ ${COMP_WORDS[i]} == -s || ${COMP_WORDS[i]} == --socket ]]; then
			# With or without `=`, which is a word of its own.
			[[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
			((i++))
		fi
		((i++))
	done
	if ((i > COMP_CWORD)); then
		[[ $_fragmend_at == = ]] && _fragmend_at=
		_fragmend_files
	elif [[ $_fragmend_at == -* ]]; then
		_fragmend_words '-s --socket -h --help -V --version'
	else
		_fragmend_command "${COMP_WORDS[@]:i:COMP_CWORD - i + 1}"
	fi
}

complete -F _fragmend fragmend
complete -F _fragmend_pcap fragmend-pcap
complete -F _fragmend_cli fragmend-cli
