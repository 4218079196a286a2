# What a sort would do; no device is needed.
for words in "--type f32 -n 100M" "--type u64 -n 2^30 --values 8" "--argsort" "-r --bits 0:8"; do
    for device in cpu cuda; do
        # shellcheck disable=SC2086
        echelon explain sort $words --device $device >text 2>err
        code=$?
        if [ $code -eq 0 ]; then
            grep -c -E '^(algorithm|workspace)' text
        else # a build without the backend
            grep -q "no CUDA backend" err && echo 2
        fi
    done
done
