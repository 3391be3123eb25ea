// SPDX-License-Identifier: MIT

/// The attributes of one item: at most one value for each name, kept in the order of the names.
///
/// A sorted array rather than a dictionary: items have few attributes, a large store holds many items, and
/// the order makes every encoding of a set the same.
public struct AttributeSet: Sendable, Hashable {
    /// One attribute.
    public struct Element: Sendable, Hashable {
        /// The attribute's name.
        public let name: AttributeName
        /// The attribute's value.
        public let value: AttributeValue

        package init(name: AttributeName, value: AttributeValue) {
            self.name = name
            self.value = value
        }
    }

    private var elements: [Element] = []

    /// Makes an empty set.
    public init() {}

    /// Makes a set of attributes that are in the order of their names already, each name once.
    package init(sorted elements: [Element]) {
        self.elements = elements
    }

    /// The value of a name, nil if it is not set.
    ///
    /// - Complexity: O(n) in the number of attributes.
    public subscript(name: AttributeName) -> AttributeValue? {
        get {
            // From the beginning: to find that two short names differ is faster than to order them.
            for element in elements where element.name == name { return element.value }
            return nil
        }
        set {
            let index = position(of: name)
            let exists = index < elements.count && elements[index].name == name
            switch (newValue, exists) {
            case (let value?, true): elements[index] = Element(name: name, value: value)
            case (let value?, false): elements.insert(Element(name: name, value: value), at: index)
            case (nil, true): elements.remove(at: index)
            case (nil, false): break
            }
        }
    }

    /// The attributes that satisfy a condition; this very set if all do.
    package func filtered(_ isIncluded: (Element) -> Bool) -> AttributeSet {
        elements.allSatisfy(isIncluded) ? self : AttributeSet(sorted: elements.filter(isIncluded))
    }

    private func position(of name: AttributeName) -> Int {
        var low = 0
        var high = elements.count
        while low < high {
            let middle = (low + high) / 2
            if elements[middle].name < name { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension AttributeSet: RandomAccessCollection {
    /// The position of the first attribute.
    public var startIndex: Int { elements.startIndex }
    /// The position after the last attribute.
    public var endIndex: Int { elements.endIndex }

    /// The attribute at a position, in the order of the names.
    public subscript(position: Int) -> Element { elements[position] }
}
