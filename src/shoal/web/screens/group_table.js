// The values of a column as rows and the levels of its hierarchy as columns.
// All texts are set as text, never as markup.
export default {
  props: {
    rows: Array, // {row, value, rows, labels, grouped, ticked, own}
    levels: Array, // {title, groups, smallest, ungrouped, remove} for the values and each level
    words: Object, // the texts of the interface
    busy: Boolean,
  },
  emits: ["tick", "page-tick", "rename", "remove-level", "add-level", "undo", "redo"],
  data() {
    return { last: null };
  },
  computed: {
    all() {
      return this.rows.length > 0 && this.rows.every((row) => row.ticked);
    },
    some() {
      return !this.all && this.rows.some((row) => row.ticked);
    },
  },
  methods: {
    tick(event, at) {
      const on = event.target.checked;
      let from = at;
      if (event.shiftKey && this.last !== null && this.last < this.rows.length) from = this.last;
      const picked = this.rows.slice(Math.min(from, at), Math.max(from, at) + 1);
      picked.forEach((row) => (row.ticked = on));
      this.last = at;
      this.$emit("tick", { rows: picked.map((row) => row.row), on });
    },
    tickPage(event) {
      const on = event.target.checked;
      this.rows.forEach((row) => (row.ticked = on));
      this.$emit("tick", { rows: this.rows.map((row) => row.row), on });
    },
    removeLevel(level) {
      this.$emit("remove-level", { level });
      this.$nextTick(() => this.$refs.add.focus());
    },
    key(event) {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
      event.preventDefault();
      this.$emit(event.shiftKey ? "redo" : "undo", {});
    },
    fill(text, ...parts) {
      return parts.reduce((made, part, n) => made.replaceAll(`{${n}}`, () => part), text);
    },
  },
  template: `
    <div class="s-values" role="region" tabindex="0" :aria-label="words.region" @keydown="key">
      <table :aria-busy="busy ? 'true' : 'false'">
        <caption class="s-hidden">{{ words.caption }}</caption>
        <thead>
          <tr>
            <th scope="col" class="s-tick">
              <input type="checkbox" :checked="all" :indeterminate.prop="some" @click="tickPage"
                :aria-label="words.tickPage" />
            </th>
            <th scope="col" v-for="(level, n) in levels" :key="n" :class="{ 's-value': n === 0 }">
              <div class="s-level">
                <div>
                  <div class="s-level-name">{{ level.title }}</div>
                  <div class="s-level-info">{{ level.groups }}</div>
                  <div class="s-level-info" :class="{ 's-level-low': level.low }">
                    {{ level.smallest }}</div>
                </div>
                <button v-if="n > 0" type="button" class="s-icon" @click="removeLevel(n)"
                  :aria-label="level.remove" :title="level.remove">×</button>
              </div>
            </th>
            <th scope="col">
              <div class="s-level">
                <div>
                  <div class="s-level-name">{{ words.top }}</div>
                  <div class="s-level-info">{{ words.topInfo }}</div>
                </div>
                <button ref="add" type="button" class="s-add" @click="$emit('add-level', {})">
                  {{ words.addLevel }}</button>
              </div>
            </th>
          </tr>
        </thead>
        <tbody>
          <tr v-for="(row, at) in rows" :key="row.row" :class="{ 's-picked': row.ticked }">
            <td class="s-tick">
              <input type="checkbox" :checked="row.ticked" @click="tick($event, at)"
                :aria-label="fill(words.tick, row.value || words.empty)" />
            </td>
            <th scope="row" class="s-value">
              <span class="s-cell">{{ row.value || words.empty }}</span>
              <span class="s-count">{{ row.own ? row.count : words.notInFile }}</span>
            </th>
            <td v-for="(label, n) in row.labels" :key="n">
              <button v-if="row.grouped[n]" type="button" class="s-group"
                @click="$emit('rename', { level: n + 1, label })"
                :aria-label="fill(words.rename, label, String(n + 1))">{{ label }}</button>
              <span v-else class="s-same">{{ words.same }}</span>
            </td>
            <td class="s-same">{{ words.root }}</td>
          </tr>
          <tr v-if="!rows.length">
            <td :colspan="levels.length + 2" class="s-none">{{ words.none }}</td>
          </tr>
        </tbody>
      </table>
    </div>`,
};
