// What can be tested without an editor: the files that package.json names are there, grammars are valid regular
// expressions, and every keyword of the languages' own lists is highlighted as one.
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');

const read = (file) => JSON.parse(fs.readFileSync(path.join(__dirname, file), 'utf8'));
const manifest = read('package.json');
const { languages, grammars } = manifest.contributes;

assert.deepStrictEqual(languages.map((it) => it.id), grammars.map((it) => it.language));
fs.accessSync(path.join(__dirname, manifest.main));
for (const language of languages) {
  const configuration = read(language.configuration);
  for (const { pattern, flags } of Object.values(configuration.indentationRules || {})) {
    new RegExp(pattern, flags);
  }
}
const expression = (text) => new RegExp(text.replaceAll('(?i:', '(?:'), 'iu');
for (const { path: file, scopeName } of grammars) {
  const grammar = read(file);
  assert.strictEqual(grammar.scopeName, scopeName);
  for (const pattern of grammar.patterns) {
    for (const text of [pattern.match, pattern.begin, pattern.end].filter(Boolean)) {
      expression(text);
    }
  }
}
const root = path.join(__dirname, '..', '..', 'crates');
const lists = {
  murphi: ['murphi/src/syntax/token.rs', 'token_kinds! {', '\n    ;'],
  promela: ['promela/src/syntax/parser/mod.rs', 'const KEYWORDS', '];'],
  b: ['b/src/syntax/token.rs', 'const WORDS', '];'],
  csp: ['csp/src/syntax/token.rs', 'const KEYWORDS', '];'],
  dve: ['dve/src/syntax/token.rs', 'const KEYWORDS', '];'],
};
for (const [language, [file, begin, end]] of Object.entries(lists)) {
  const text = fs.readFileSync(path.join(root, file), 'utf8');
  const start = text.indexOf(begin, language === 'murphi' ? text.indexOf('const LONGEST_KEYWORD') : 0);
  const words = [...text.slice(start, text.indexOf(end, start)).matchAll(/"([A-Za-z_]\w*)"/g)].map((it) => it[1]);
  assert.ok(words.length > 10, language);
  const patterns = read(`syntaxes/${language}.tmLanguage.json`).patterns.filter((it) => it.match);
  for (const word of words) {
    const isWord = (it) => /^(keyword|storage|constant|support)/.test(it.name) && expression(it.match).test(word);
    assert.ok(patterns.some(isWord), `${language}: ${word} is not highlighted`);
  }
}
console.log(`${languages.length} languages, ${grammars.length} grammars`);
