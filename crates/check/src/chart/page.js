'use strict';
const story = JSON.parse(document.getElementById('story').textContent);
const end = story.moments.length;
let step = 0;
const at = id => document.getElementById(id);

function element(name, className, text) {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

// One node of a state; what differs from the state before is marked.
function card(view, before, moment) {
  const box = element('div', 'card' + (moment && moment.node === view.node ? ' now' : ''));
  box.dataset.node = view.node;
  box.append(element('b', '', 'node ' + view.node));
  view.roles.forEach((role, i) => {
    const old = before && before.roles[i];
    const changed = old && (old.state !== role.state || old.access !== role.access);
    const object = role.object && story.homes.length > 1 ? role.object + ': ' : '';
    const access = { none: ' · no access', read: ' · read', write: ' · write' }[role.access] || '';
    box.append(element('div', 'role ' + role.access + (changed ? ' changed' : ''), object + role.role + '.' + role.state + access));
  });
  for (const word of view.memory) box.append(element('div', before && !before.memory.includes(word) ? 'changed' : 'quiet', word));
  for (const thread of view.threads) box.append(element('div', '', '… ' + thread));
  for (const task of view.tasks) box.append(element('div', '', 'task ' + task));
  return box;
}

function showEvent(moment) {
  if (!moment) {
    at('event').textContent = end ? 'Before the first event.' : 'The first state.';
  } else {
    const object = moment.object && story.homes.length > 1 ? ' · ' + moment.object : '';
    const done = moment.performed.map(text => ' ✓ ' + text).join('');
    const fate = moment.fate ? ' … ' + moment.fate : '';
    const forgotten = (moment.forgotten || []).map(text => ' … ' + text).join('');
    at('event').textContent = moment.step + '. node ' + moment.node + ': ' + moment.event + object + fate + done + forgotten;
  }
  const lines = step === end && story.reason ? [element('div', '', '✗ ' + story.reason)] : [];
  if (step === end) {
    for (const w of story.waiting) lines.push(element('div', 'waits', w.who + ' waits for ' + w.waits_for + (w.state ? ' (' + w.state + ')' : '')));
    const g = story.growth;
    if (g) lines.push(element('div', 'waits', g.what + ', declared ' + g.bound + ': ' + g.points.map(p => p.value).join(', ') + ', and then ' + g.beyond));
  }
  at('wrong').replaceChildren(...lines);
}

function showMessages() {
  const flying = story.arrows.filter(a => a.sent <= step && (a.received === null || a.received > step));
  const text = a => a.label + (a.object ? ' · ' + a.object : '') + ' from ' + a.from + ' to ' + a.to +
    ' (' + a.lane + ', sent in step ' + a.sent + (a.received === null ? ', never handled' : '') + ')';
  at('messages').replaceChildren(...flying.map(a => element('li', a.sent === step ? 'changed' : '', text(a))));
  if (!flying.length) at('messages').append(element('li', 'quiet', 'none'));
}

let shownFile = null;
function showSource(moment) {
  const source = moment && moment.source;
  const name = source ? source.file : shownFile || (story.sources[0] && story.sources[0].file);
  const file = story.sources.find(s => s.file === name);
  if (file && shownFile !== name) {
    shownFile = name;
    at('source').replaceChildren(...file.text.split('\n').map((line, i) => {
      const row = element('span');
      row.dataset.line = i + 1;
      row.append(element('i', '', i + 1), line);
      return row;
    }));
  }
  at('file').textContent = source
    ? name + ', line ' + source.first + (source.last > source.first ? ' to ' + source.last : '')
    : name + (moment ? ' (no handler runs: the access is allowed)' : '');
  let first = null;
  for (const row of at('source').children) {
    const here = !!source && source.first <= +row.dataset.line && +row.dataset.line <= source.last;
    row.classList.toggle('here', here);
    if (here && !first) first = row;
  }
  if (first) at('source').scrollTop = first.offsetTop - at('source').offsetTop - 40;
}

function showPicture() {
  for (const part of document.querySelectorAll('#picture .band')) part.classList.toggle('now', +part.dataset.step === step);
  for (const part of document.querySelectorAll('#picture .step')) part.classList.toggle('later', +part.dataset.step > step);
  for (const part of document.querySelectorAll('#picture .message')) part.classList.toggle('later', +part.dataset.sent > step);
  const band = document.querySelector('#picture .band.now');
  if (!band) { at('picture').scrollTop = 0; return; }
  const view = at('picture').getBoundingClientRect(), box = band.getBoundingClientRect();
  if (box.top < view.top + 40) at('picture').scrollTop += box.top - view.top - 40;
  if (box.bottom > view.bottom - 40) at('picture').scrollTop += box.bottom - view.bottom + 40;
}

function go(to) {
  step = Math.max(0, Math.min(end, to));
  const moment = step ? story.moments[step - 1] : null;
  at('where').textContent = 'step ' + step + ' of ' + end;
  at('back').disabled = at('first').disabled = step === 0;
  at('forward').disabled = at('last').disabled = step === end;
  const frame = story.frames[step], before = step ? story.frames[step - 1] : null;
  at('nodes').replaceChildren(...frame.nodes.map((view, i) => card(view, before && before.nodes[i], moment)));
  showEvent(moment);
  showMessages();
  showSource(moment);
  showPicture();
  history.replaceState(null, '', '#' + step);
}

at('first').onclick = () => go(0);
at('back').onclick = () => go(step - 1);
at('forward').onclick = () => go(step + 1);
at('last').onclick = () => go(end);
document.addEventListener('keydown', event => {
  const to = { ArrowRight: step + 1, ArrowDown: step + 1, ' ': step + 1, ArrowLeft: step - 1, ArrowUp: step - 1, Home: 0, End: end }[event.key];
  if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === ' ' && event.target.tagName === 'BUTTON') return;
  event.preventDefault();
  go(to);
});
at('picture').onclick = event => {
  const part = event.target.closest('[data-step]');
  if (part) go(+part.dataset.step);
};
// It opens where it goes wrong, unless a step is named.
go(location.hash ? +location.hash.slice(1) || 0 : end);
