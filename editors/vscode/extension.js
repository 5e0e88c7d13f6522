// The client: starts `quotient language-server`, and offers its commands and tasks.
'use strict';

const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

const LANGUAGES = ['murphi', 'promela', 'b', 'csp', 'dve'];

let client;

function program() {
  return vscode.workspace.getConfiguration('quotient').get('path') || 'quotient';
}

async function start() {
  const server = { command: program(), args: ['language-server'] };
  const documents = LANGUAGES.flatMap((language) => [
    { scheme: 'file', language },
    { scheme: 'untitled', language },
  ]);
  client = new LanguageClient('quotient', 'Quotient', server, { documentSelector: documents });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const text = `Quotient: cannot start \`${program()}\`: ${error.message}. Set "quotient.path".`;
    vscode.window.showErrorMessage(text);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running) {
    await running.stop();
  }
}

// What the server answers, in a sentence.
function summary(command, result) {
  switch (command) {
    case 'check': {
      const violated = result.properties.filter((it) => it.verdict === 'violated').map((it) => it.name);
      const which = violated.length > 0 ? `: ${violated.join(', ')}` : '';
      return `${result.verdict}${which} (${result.states} states)`;
    }
    case 'serve':
      return `the explorer is at ${result.address}`;
    case 'detect':
      return `${result.order} symmetries, ${result.structure}`;
    default:
      return `${result.states} states, ${result.transitions} transitions${result.finished ? '' : ' so far'}`;
  }
}

async function run(command) {
  const editor = vscode.window.activeTextEditor;
  if (!client || !editor) {
    return;
  }
  try {
    const result = await client.sendRequest('workspace/executeCommand', {
      command: `quotient.${command}`,
      arguments: [editor.document.uri.toString()],
    });
    vscode.window.showInformationMessage(`Quotient: ${summary(command, result)}`);
  } catch (error) {
    vscode.window.showWarningMessage(`Quotient: ${error.message}`);
  }
}

function task(definition) {
  const file = definition.file || '${file}';
  const execution = new vscode.ProcessExecution(program(), [
    definition.command,
    ...(definition.arguments || []),
    file,
  ]);
  const title = definition.file ? `${definition.command} ${definition.file}` : `${definition.command} the active file`;
  return new vscode.Task(definition, vscode.TaskScope.Workspace, title, 'quotient', execution, '$quotient');
}

async function activate(context) {
  for (const command of ['check', 'detect', 'explore', 'serve']) {
    context.subscriptions.push(vscode.commands.registerCommand(`quotient.${command}Document`, () => run(command)));
  }
  context.subscriptions.push(
    vscode.commands.registerCommand('quotient.restart', async () => {
      await stop();
      await start();
    }),
    vscode.tasks.registerTaskProvider('quotient', {
      provideTasks: () => ['check', 'detect', 'explore'].map((command) => task({ type: 'quotient', command })),
      resolveTask: (given) => task(given.definition),
    }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration('quotient.path')) {
        await stop();
        await start();
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
