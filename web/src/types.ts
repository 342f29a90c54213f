// What a desk answers (docs/page.md).

export interface Finding {
  severity: "note" | "warning" | "error";
  code: string;
  what: string;
  because?: string;
  hint?: string;
  file?: string;
  line?: number;
  scope?: string;
}

export interface Stats {
  opsets: Record<string, number>;
  nodes: number;
  operators: Record<string, number>;
  weights: number;
  parameters: number;
  weight_bytes: number;
  bytes_by_dtype: Record<string, number>;
  macs: string;
  activation_bytes?: number;
  dims: string[];
}

export interface Rewrite {
  rule: string;
  class: string;
  value: string;
  nodes_removed: number;
  nodes_added: number;
}

export interface ValueType {
  name: string;
  type: string;
}

export interface ArchiveMethod {
  name: string;
  signature: string;
  example?: string[];
}

export interface Summary {
  kind: string;
  producer?: string;
  producer_version?: string;
  ir_version?: number;
  inputs?: ValueType[];
  outputs?: ValueType[];
  metadata?: Record<string, string>;
  methods?: ArchiveMethod[];
  operators?: unknown;
  parameters?: number;
  weight_bytes?: number;
  data_files?: string[]; // that weights are in
}

export interface Opened {
  model: number;
  file: string;
  name: string;
  from: number;
  verb: string;
  command: string;
  kind: "onnx" | "torchscript" | "torch_export";
  stats?: Stats;
  summary: Summary;
  ledger: Rewrite[];
  findings: Finding[];
  report?: QuantizeReport;
}

export interface QuantizeReport {
  db: number;
  int8_macs: number;
  samples: number;
  target: string;
  method: string;
}

export interface Box {
  id: number;
  kind: "node" | "module" | "repeat" | "body" | "input" | "output";
  title: string;
  path: string;
  x: number;
  y: number;
  w: number;
  h: number;
  depth: number;
  family?: string;
  node?: number;
  opens?: boolean;
  open?: boolean;
  nodes?: number;
  lines?: string[];
}

export interface Line {
  wire: number;
  from?: number;
  to?: number;
  up?: boolean;
  cut?: boolean;
  p: number[];
}

export interface Scene {
  width: number;
  height: number;
  items: number;
  open: number[];
  boxes: Box[];
  lines: Line[];
  wires: [string, string][];
}

export interface WeightInfo {
  dtype: string;
  bytes: number;
  shape: number[];
}

export interface NodeValue {
  name?: string;
  label?: string;
  type?: string;
  weight?: WeightInfo;
  absent?: boolean;
}

export interface Item {
  id: number;
  kind: Box["kind"] | "root";
  title: string;
  path: string;
  around: number[];
  op?: string;
  domain?: string;
  name?: string;
  family?: string;
  type?: string;
  attributes?: {name: string; value: string}[];
  inputs?: NodeValue[];
  outputs?: NodeValue[];
  place?: {text: string; file: string; line: number; module: string; source: string};
  rewrites?: Rewrite[];
  nodes?: number;
  operators?: [string, number][];
  reads: {item: number; value: string}[];
  read_by: {item: number; value: string}[];
}

export interface ArraySummary {
  dtype: string;
  shape: number[];
  count: number;
  min?: number | null;
  max?: number | null;
  mean?: number | null;
  std?: number | null;
  zeros?: number;
  nan?: number;
  inf?: number;
  bins?: number[];
  first?: (number | string | null)[];
}

export interface Weight {
  name: string;
  array: ArraySummary;
  picture?: {tiles: number; width: number; height: number; blob: number};
}

export interface RunValue {
  name: string;
  kind: "nothing" | "array" | "sequence" | "map";
  array?: ArraySummary;
  items?: number;
}

export interface Step {
  node: string;
  op: string;
  kernel: string;
  start_us: number;
  length_us: number;
  item?: number;
}

export interface Ran {
  run: number;
  milliseconds: number;
  command: string;
  threads: number;
  arena_bytes: number;
  inputs: RunValue[];
  outputs: RunValue[];
  inner?: RunValue[];
  steps: Step[];
}

export interface Hit {
  item: number;
  what: string;
  text: string;
}

export interface Difference {
  what: string;
  first: string;
  second: string;
  first_item?: number;
  second_item?: number;
}

export interface Verified {
  same: boolean;
  max_difference: number | null;
  results: {name: string; max_difference: number | null; why?: string}[];
}
