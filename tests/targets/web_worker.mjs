// Tries models in onnxruntime-web's WebAssembly backend, in Node. The same jobs and answers as worker.py; CAMEO_ORT_WEB is the folder of the npm package.
import fs from 'node:fs';
import readline from 'node:readline';
import zlib from 'node:zlib';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = process.env.CAMEO_ORT_WEB;
const ort = await import(pathToFileURL(path.join(folder, 'dist', 'ort.wasm.min.mjs')).href);
ort.env.wasm.numThreads = 1;
ort.env.logLevel = 'fatal';
for (const name of ['log', 'warn', 'error', 'info', 'debug']) console[name] = () => {};

const TYPES = {
  'f4': ['float32', Float32Array], 'f8': ['float64', Float64Array], 'f2': ['float16', Uint16Array], 'i1': ['int8', Int8Array], 'i2': ['int16', Int16Array],
  'i4': ['int32', Int32Array], 'i8': ['int64', BigInt64Array], 'u1': ['uint8', Uint8Array], 'u2': ['uint16', Uint16Array], 'u4': ['uint32', Uint32Array],
  'u8': ['uint64', BigUint64Array], 'b1': ['bool', Uint8Array],
};

function unpacked(file) {  // .npz: the entries of a zip, from its directory
  const b = fs.readFileSync(file), out = {};
  let at = b.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  let count = b.readUInt16LE(at + 10), entry = b.readUInt32LE(at + 16);
  while (count--) {
    const method = b.readUInt16LE(entry + 10), size = b.readUInt32LE(entry + 20), local = b.readUInt32LE(entry + 42), n = b.readUInt16LE(entry + 28);
    const name = b.toString('utf8', entry + 46, entry + 46 + n).replace(/\.npy$/, '');
    const data = local + 30 + b.readUInt16LE(local + 26) + b.readUInt16LE(local + 28), raw = b.subarray(data, data + size);
    out[name] = array(method ? zlib.inflateRawSync(raw) : raw);
    entry += 46 + n + b.readUInt16LE(entry + 30) + b.readUInt16LE(entry + 32);
  }
  return out;
}

function array(b) {
  const wide = b[6] > 1, length = wide ? b.readUInt32LE(8) : b.readUInt16LE(8), head = b.toString('latin1', wide ? 12 : 10, (wide ? 12 : 10) + length);
  const descr = /'descr': '[<|>=]?(\w)(\d+)'/.exec(head), dims = /'shape': \(([^)]*)\)/.exec(head)[1].split(',').filter((s) => s.trim()).map(Number);
  const bytes = b.subarray((wide ? 12 : 10) + length), kind = descr[1] + descr[2];
  if (descr[1] === 'U') {
    const chars = Number(descr[2]), texts = [];
    for (let i = 0; i + 4 * chars <= bytes.length; i += 4 * chars) {
      let s = '';
      for (let k = 0; k < chars; ++k) { const c = bytes.readUInt32LE(i + 4 * k); if (c) s += String.fromCodePoint(c); }
      texts.push(s);
    }
    return { dims, texts };
  }
  const copy = new Uint8Array(bytes).buffer, [type, holder] = TYPES[kind];
  return { dims, type, data: new holder(copy) };
}

const half = (h) => { const s = h >> 15 ? -1 : 1, e = (h >> 10) & 31, m = h & 1023; return s * (e === 31 ? (m ? NaN : Infinity) : e ? 2 ** (e - 15) * (1 + m / 1024) : 2 ** -24 * m); };
const number = (type, v) => (type === 'float16' && typeof v === 'number' && Number.isInteger(v) ? half(v) : Number(v));
const TOLERANCE = { float16: 2e-2, float64: 1e-4, float32: 2e-3 };

function difference(got, wanted, tolerance) {
  const dims = wanted.dims.join(), mine = Array.from(got.dims).join();
  if (dims !== mine) return `shape ${mine}, not ${dims}`;
  const f16 = got.type === 'float16' && got.data instanceof Uint16Array;
  let worst = 0, scale = 1;
  for (const v of wanted.data) { const x = Math.abs(number(wanted.type, v)); if (Number.isFinite(x) && x > scale) scale = x; }
  for (let i = 0; i < wanted.data.length; ++i) {
    const w = number(wanted.type, wanted.data[i]), g = f16 ? half(got.data[i]) : Number(got.data[i]);
    if (g === w || (Number.isNaN(g) && Number.isNaN(w))) continue;
    worst = Math.max(worst, Number.isFinite(g) && Number.isFinite(w) ? Math.abs(g - w) : Infinity);
  }
  const allowed = wanted.type.startsWith('float') ? tolerance ?? TOLERANCE[wanted.type] : 0;
  return worst / scale <= allowed ? '' : `differs by ${(worst / scale).toPrecision(3)}`;
}

async function tried(job) {
  const io = unpacked(job.io);
  let session;
  try { session = await ort.InferenceSession.create(fs.readFileSync(job.model), { executionProviders: ['wasm'], logSeverityLevel: 4 }); } catch (e) { return ['load', e.message ?? String(e)]; }
  try {
    const feeds = {};
    (io.names.texts ?? []).forEach((name, i) => { const a = io[`in${i}`]; feeds[name] = new ort.Tensor(a.type, a.data, a.dims); });
    const results = await session.run(feeds), loose = io.loose?.data[0];
    for (let i = 0; i < Number(io.outputs.data[0]); ++i) {
      const why = loose ? '' : difference(results[session.outputNames[i]], io[`out${i}`], job.tolerance);
      if (why) return ['wrong', `output ${i}: ${why}`];
    }
    return ['right', ''];
  } catch (e) { return ['run', e.message ?? String(e)]; } finally { await session.release?.(); }
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const job = JSON.parse(line), [outcome, why] = await tried(job);
  process.stdout.write(JSON.stringify({ id: job.id, outcome, why: why.split('\n')[0].slice(0, 300) }) + '\n');
}
