import Foundation
import FoundationXML

/// A reader of the text and bars of a chart's XML.
final class SVGReader: NSObject, XMLParserDelegate {
    private(set) var texts: [String] = []
    private(set) var widths: [Double] = []
    private var isInText = false

    func read(_ svg: String) throws {
        let parser = XMLParser(data: Data(svg.utf8))
        parser.delegate = self
        guard parser.parse() else { throw parser.parserError ?? CocoaError(.formatting) }
    }

    func parser(
        _ parser: XMLParser,
        didStartElement element: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        isInText = element == "text"
        if isInText { texts.append("") }
        if element == "rect", let width = attributes["width"].flatMap(Double.init) { widths.append(width) }
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        if isInText { texts[texts.count - 1] += text }
    }

    func parser(
        _ parser: XMLParser,
        didEndElement element: String,
        namespaceURI: String?,
        qualifiedName: String?
    ) {
        isInText = false
    }
}
