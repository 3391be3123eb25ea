// SPDX-License-Identifier: MIT

/// Finds what a person may have meant.
enum Suggestion {
    /// A sentence that names the nearest word, with a space before it; nothing if none is near.
    static func sentence(for word: String, among words: [String], prefix: String = "") -> String {
        guard let nearest = nearest(to: word, among: words) else { return "" }
        return " Did you mean ‘\(prefix)\(nearest)’?"
    }

    /// The word that is reached with the fewest edits; nil if it is not near.
    static func nearest(to word: String, among words: [String]) -> String? {
        // What is much longer than any word of the table is near to none, and would take long to compare.
        guard word.utf8.count <= 64 else { return nil }
        let limit = word.count < 5 ? 1 : 2
        let near = words.map { (word: $0, distance: distance(word, $0)) }.filter { $0.distance <= limit }
        return near.min { $0.distance < $1.distance }?.word
    }

    /// How many characters have to be inserted, removed, replaced or swapped with their neighbour.
    ///
    /// - Complexity: O(m · n).
    static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left)
        let right = Array(right)
        var rows = [Array(0...right.count)]
        for row in 1..<(left.count + 1) {
            var next = [row]
            for column in 1..<(right.count + 1) {
                let replaced = rows[row - 1][column - 1] + (left[row - 1] == right[column - 1] ? 0 : 1)
                var best = min(replaced, rows[row - 1][column] + 1, next[column - 1] + 1)
                let isSwap =
                    row > 1 && column > 1 && left[row - 1] == right[column - 2] && left[row - 2] == right[column - 1]
                if isSwap { best = min(best, rows[row - 2][column - 2] + 1) }
                next.append(best)
            }
            rows.append(next)
        }
        return rows[left.count][right.count]
    }
}
